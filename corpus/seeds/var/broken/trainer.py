from typing import Optional

import torch
import torch.nn as nn

from utils.amp_sc import AmpOptimizer


class VARTrainer(object):
    def __init__(self, device, vae_local, var_wo_ddp, var, var_opt: AmpOptimizer, label_smooth: float):
        super(VARTrainer, self).__init__()
        self.var, self.vae_local, self.var_opt = var, vae_local, var_opt
        self.var_wo_ddp = var_wo_ddp
        self.train_loss = nn.CrossEntropyLoss(label_smoothing=label_smooth, reduction='none')
        self.loss_weight = torch.ones(1, 1, device=device)

    def train_step(self, it: int, stepping: bool, inp_B3HW) -> Optional[float]:
        self.var.require_backward_grad_sync = stepping
        gt_BL = self.vae_local.img_to_idx(inp_B3HW)
        with self.var_opt.amp_ctx:
            logits_BLV = self.var(gt_BL)
            B, L, V = logits_BLV.shape
            loss = self.train_loss(logits_BLV.reshape(-1, V), gt_BL[:, 1:].reshape(-1)).view(B, -1)
            loss = loss.mul(self.loss_weight).sum(dim=-1).mean() / L
        self.var_opt.backward_clip_step(loss=loss, stepping=stepping)
        return loss.item()

    def state_dict(self):
        state = {}
        for k in ('var_wo_ddp', 'vae_local', 'var_opt'):
            m = getattr(self, k)
            if m is not None:
                state[k] = m.state_dict()
        return state

    def load_state_dict(self, state, strict=True, skip_vae=False):
        for k in ('var_wo_ddp', 'vae_local', 'var_opt'):
            if skip_vae and 'vae' in k:
                continue
            m = getattr(self, k)
            if m is not None:
                ret = m.load_state_dict(state[k], strict=strict)
                if ret is not None:
                    missing, unexpected = ret
                    print(f'[VARTrainer.load_state_dict] {k} missing: {missing} unexpected: {unexpected}')
