from typing import Any, Callable, Optional, Tuple

import torch
from torch import Tensor


class PerturbationAttribution:
    def __init__(self, forward_func: Callable) -> None:
        self.forward_func = forward_func


class FeatureAblation(PerturbationAttribution):
    r"""
    Replaces each feature with its baseline and takes the difference of the outputs.
    """

    def attribute(
        self,
        inputs: Tensor,
        baselines: float = 0.0,
        target: Optional[Tensor] = None,
        perturbations_per_eval: int = 1,
    ) -> Tensor:
        with torch.no_grad():
            initial_eval = self._run_forward(inputs, target)
            total_attrib = torch.zeros_like(inputs)
            for current_inputs, current_target, current_mask in self._ith_input_ablation_generator(
                inputs, target, baselines, perturbations_per_eval
            ):
                modified_eval = self._run_forward(current_inputs, current_target)
                n = current_mask.shape[0]
                eval_diff = initial_eval - modified_eval.reshape(n, -1)
                total_attrib += (eval_diff.unsqueeze(-1) * current_mask.unsqueeze(1).to(total_attrib.dtype)).sum(0)
            return total_attrib

    def _run_forward(self, inputs: Tensor, target: Optional[Tensor]) -> Tensor:
        output = self.forward_func(inputs)
        return output if target is None else output.gather(1, target.unsqueeze(1)).squeeze(1)

    def _ith_input_ablation_generator(self, inputs: Tensor, target: Any, baselines: float, perturbations_per_eval: int):
        num_features = inputs.shape[1]
        num_examples = inputs.shape[0]
        current = 0
        while current < num_features:
            count = min(perturbations_per_eval, num_features - current)
            expanded_input = inputs.unsqueeze(0).expand(count, *inputs.shape)
            expanded_target = None if target is None else target.repeat(count)
            ablated, current_mask = self._construct_ablated_input(expanded_input, baselines, current, current + count)
            yield ablated.reshape(count * num_examples, -1), expanded_target, current_mask
            current += count

    def _construct_ablated_input(
        self, expanded_input: Tensor, baseline: float, start_feature: int, end_feature: int
    ) -> Tuple[Tensor, Tensor]:
        current_mask = torch.stack(
            [torch.arange(expanded_input.shape[-1], device=expanded_input.device) == j for j in range(start_feature, end_feature)], dim=0
        ).long()
        keep = (1 - current_mask).unsqueeze(1).to(expanded_input.dtype)
        ablated_tensor = expanded_input * keep + baseline * current_mask.unsqueeze(1).to(expanded_input.dtype)
        return ablated_tensor, current_mask
