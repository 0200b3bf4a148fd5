"""Activation checkpointing: a function that is called again in the backward pass."""

# https://docs.pytorch.org/docs/stable/checkpoint.html
def checkpoint(
    function: Callable,
    *args,
    use_reentrant=...,
    context_fn=...,
    determinism_check=...,
    debug=...,
    early_stop=...,
    preserve_rng_state=...,
    **kwargs,
) -> Calls[function, args, kwargs]: ...
def checkpoint_sequential(
    functions: Callable, segments, input, use_reentrant=..., *, preserve_rng_state=..., **kwargs
) -> Calls[functions, input]: ...
