from .encoder import SentenceEncoder

__all__ = ["SentenceEncoder"]
