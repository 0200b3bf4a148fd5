"""devfix: finds and repairs PyTorch device bugs."""

__all__ = ["__version__"]

__version__ = "0.2.0"
