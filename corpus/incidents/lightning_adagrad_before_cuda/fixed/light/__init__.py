from .module import LightModule
from .trainer import Trainer

__all__ = ['LightModule', 'Trainer']
