"""Image models."""

from timm import create_model as create_model
