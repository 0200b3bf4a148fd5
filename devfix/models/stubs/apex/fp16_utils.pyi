"""Mixed precision by hand: a wrapped optimizer steps as before."""

# https://nvidia.github.io/apex/fp16_utils.html
def FP16_Optimizer(init_optimizer, *args, **kwargs) -> Same[init_optimizer]: ...
