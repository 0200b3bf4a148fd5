"""Engines that call a step for each batch."""

# https://docs.pytorch.org/ignite/engine.html
class Engine(Overlay): ...
