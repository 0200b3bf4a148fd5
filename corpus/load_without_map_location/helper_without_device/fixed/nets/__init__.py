from .backbone import Backbone
from .weights import load_pretrained
