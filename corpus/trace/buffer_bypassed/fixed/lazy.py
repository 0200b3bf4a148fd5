import torch


class Lazy:
    """Attributes of a class that are made when they are first asked for."""

    recipes = {}

    def __init_subclass__(cls, recipes=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.recipes = {**cls.recipes, **(recipes or {})}

    def __getattr__(self, name):
        if name in self.recipes:
            self.__dict__[name] = torch.tensor([self.recipes[name](i) for i in range(self.heads)])
            return self.__dict__[name]
        return super().__getattr__(name)
