from contextlib import nullcontext
from typing import List, Optional, Tuple

import torch


class AmpOptimizer:
    def __init__(self, mixed_precision: int, optimizer: torch.optim.Optimizer, names: List[str],
                 paras: List[torch.nn.Parameter], grad_clip: float, n_gradient_accumulation: int = 1):
        self.enable_amp = mixed_precision > 0
        self.using_fp16_rather_bf16 = mixed_precision == 1
        if self.enable_amp:
            self.amp_ctx = torch.autocast('cuda', dtype=torch.float16 if self.using_fp16_rather_bf16 else torch.bfloat16)
            self.scaler = torch.amp.GradScaler('cuda', init_scale=2. ** 11, growth_interval=1000)
        else:
            self.amp_ctx = nullcontext()
            self.scaler = None

        self.optimizer, self.names, self.paras = optimizer, names, paras
        self.grad_clip = grad_clip
        self.early_clipping = self.grad_clip > 0 and not hasattr(optimizer, 'global_grad_norm')
        self.r_accu = 1 / n_gradient_accumulation

    def backward_clip_step(self, stepping: bool, loss: torch.Tensor) -> Tuple[Optional[torch.Tensor], Optional[float]]:
        loss = loss.mul(self.r_accu)
        orig_norm = None
        if self.scaler is not None:
            self.scaler.scale(loss).backward()
        else:
            loss.backward()

        if stepping:
            if self.scaler is not None:
                self.scaler.unscale_(self.optimizer)
            if self.early_clipping:
                orig_norm = torch.nn.utils.clip_grad_norm_(self.paras, self.grad_clip)
            if self.scaler is not None:
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
        return orig_norm

    def state_dict(self):
        return {
            'optimizer': self.optimizer.state_dict()
        } if self.scaler is None else {
            'scaler': self.scaler.state_dict(),
            'optimizer': self.optimizer.state_dict()
        }

    def load_state_dict(self, state, strict=True):
        if self.scaler is not None:
            try:
                self.scaler.load_state_dict(state['scaler'])
            except Exception as e:
                print(f'[fp16 load_state_dict err] {e}')
        self.optimizer.load_state_dict(state['optimizer'])
