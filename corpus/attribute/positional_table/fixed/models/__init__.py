from .encoding import PositionalEncoding
