"""devfix: finds and repairs PyTorch device bugs."""

__all__ = ["__version__"]

__version__ = "0.1.0"
