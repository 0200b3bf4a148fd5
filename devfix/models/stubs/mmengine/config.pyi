"""Configurations, whose settings are unknown."""

from mmengine import Config as Config
