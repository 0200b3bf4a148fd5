from .plus import ram_plus, tag_base
