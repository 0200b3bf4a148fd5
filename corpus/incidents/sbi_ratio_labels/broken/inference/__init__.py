from .snre import SNRE_A

__all__ = ["SNRE_A"]
