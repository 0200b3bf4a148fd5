"""Experiments: the program's function is called once per trial."""

# https://docs.ray.io/en/latest/tune/api/doc/ray.tune.run.html
def run(run_or_experiment: Callable, *args, **kwargs) -> Any: ...
