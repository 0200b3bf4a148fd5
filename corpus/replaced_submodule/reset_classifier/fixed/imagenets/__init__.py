from .factory import create_model
from .mixer import TinyMixer
