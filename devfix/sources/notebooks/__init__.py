"""Notebooks (``.ipynb``): their cells as one program, and its edits back in the file, byte for byte around them.

nbformat says what a valid notebook is; it is the extra ``notebook``.  The file is never written by it: an edit replaces
the strings of the lines that change, and nothing else (`encode_notebook`).
"""

from devfix.sources.notebooks._export import located, runnable
from devfix.sources.notebooks._magics import as_written
from devfix.sources.notebooks._program import cells_in, place_in, sources_in
from devfix.sources.notebooks._reading import decode_notebook, encode_notebook
from devfix.sources.notebooks._spots import spots

__all__ = [
    "as_written",
    "cells_in",
    "decode_notebook",
    "encode_notebook",
    "located",
    "place_in",
    "runnable",
    "sources_in",
    "spots",
]
