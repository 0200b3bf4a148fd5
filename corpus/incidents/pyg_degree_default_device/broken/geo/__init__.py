from .conv import GraphConvolution
from .degree import degree

__all__ = ['GraphConvolution', 'degree']
