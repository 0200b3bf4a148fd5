"""Functions that read their arguments and move nothing; an agent calls the program's function, once per run."""

# https://docs.wandb.ai/ref/python/agent
def agent(sweep_id, function: Callable = ..., *args, **kwargs) -> Any: ...

# https://pypi.org/project/wandb/
def __getattr__(*args, **kwargs) -> Any: ...
