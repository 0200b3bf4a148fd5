"""Reducers of losses: modules without weights."""

# https://github.com/KevinMusgrave/pytorch-metric-learning, reducers/base_reducer.py
class __getattr__(Loss):
    def __call__(self, loss_dict, embeddings, labels) -> Any: ...
