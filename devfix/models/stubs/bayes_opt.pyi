"""Searches for hyperparameters: the program's function is called in each iteration."""

# https://bayesian-optimization.github.io/BayesianOptimization/reference/bayes_opt.html
class BayesianOptimization:
    def __new__(cls, f: Callable, pbounds=..., *args, **kwargs) -> Any: ...
