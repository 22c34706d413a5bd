"""How the documentation is built. Nothing on its pages is loaded from another host."""

import re
from pathlib import Path

project = "surefoot"
author = "the surefoot authors"
copyright = author

_source = Path(__file__).parent.parent / "src" / "surefoot" / "__init__.py"
_match = re.search(r'^__version__ = "([^"]+)"', _source.read_text("utf-8"), re.MULTILINE)
if _match is None:
    raise RuntimeError(f"{_source} holds no __version__: the documentation cannot say which version it is about.")
version = release = _match.group(1)

extensions = ["myst_nb"]
exclude_patterns = ["_build", "jupyter_execute"]

# Formulas are plain text: they need no script from elsewhere and read the same in an editor.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
highlight_language = "text"

# Pages with executed cells say so in their header; a cell that fails fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # no widgets, so no scripts for them

html_theme = "furo"
html_title = f"surefoot {version}"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
