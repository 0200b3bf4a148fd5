"""Configurations of models: dictionaries, and no modules."""

# https://huggingface.co/docs/diffusers/api/configuration
class FrozenDict(Object): ...
