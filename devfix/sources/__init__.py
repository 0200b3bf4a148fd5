"""Source files: which ones, their contents, and writing them back.

In: paths.  Out: :class:`SourceFile`, byte for byte reversible: encoding cookie, byte-order mark and newlines are kept.
A file that cannot be read or written is a :class:`SourceError`, whose ``problem`` is the line that a person sees.

May import :mod:`devfix.model` only.
"""

from devfix.sources._discovery import SUFFIXES, Discovery, discover, excluded, is_generated, left_out, load
from devfix.sources._location import diff_root, display, git_root, is_within, own_root, program_root, repository_root
from devfix.sources._source_file import SourceError, SourceFile, as_text
from devfix.sources._text import NOTEBOOK, decode, encode, read
from devfix.sources._writing import write, write_whole

__all__ = [
    "NOTEBOOK",
    "SUFFIXES",
    "Discovery",
    "SourceError",
    "SourceFile",
    "as_text",
    "decode",
    "diff_root",
    "discover",
    "display",
    "encode",
    "excluded",
    "git_root",
    "is_generated",
    "is_within",
    "left_out",
    "load",
    "own_root",
    "program_root",
    "read",
    "repository_root",
    "write",
    "write_whole",
]
