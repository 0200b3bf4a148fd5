from .base import BaseTask
