"""Sphinx configuration of the documentation site (``nox -s docs``); the reference is generated from the code."""

import sys
from pathlib import Path

from devfix import __version__

sys.path.insert(0, str(Path(__file__).parent))

project = "devfix"
author = "the devfix authors"
release = version = __version__

extensions = ["myst_parser", "sphinx_click", "reference_pages", "moved_pages", "llms"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["ci/**"]  # workflow files for users to copy
nitpicky = True
highlight_language = "text"  # default for blocks without a language
smartquotes = False  # keep -- in options
default_role = "code"  # command docstrings use single backticks

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

html_theme = "furo"
html_title = f"devfix {release}"
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["tables.css"]
