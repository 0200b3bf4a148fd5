"""Studies: the program's function is called once per trial."""

from optuna import create_study as create_study
from optuna import load_study as load_study

# https://optuna.readthedocs.io/en/stable/reference/generated/optuna.study.Study.html
class Study:
    def optimize(self, func: Callable, n_trials=..., timeout=..., *args, **kwargs) -> Any: ...
