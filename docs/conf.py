"""How the documentation is built. Nothing on its pages is loaded from another host."""

import importlib
import importlib.util
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "building"))

project = "surefoot"
author = "the surefoot authors"
copyright = author

_source = HERE.parent / "src" / "surefoot" / "__init__.py"
_match = re.search(r'^__version__ = "([^"]+)"', _source.read_text("utf-8"), re.MULTILINE)
if _match is None:
    raise RuntimeError(f"{_source} holds no __version__: the documentation cannot say which version it is about.")
version = release = _match.group(1)

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
exclude_patterns = ["_build", "jupyter_execute", "building"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
highlight_language = "text"

# MathJax comes from a package and lies beside the pages: one file, which draws formulas without fonts of its own.
_mathjax = importlib.util.find_spec("sphinx-mathjax-offline")
if _mathjax is None or _mathjax.origin is None:
    raise RuntimeError("sphinx-mathjax-offline is not installed: make docs installs it.")
html_static_path = ["_static", str(Path(_mathjax.origin).parent / "static" / "mathjax" / "tex-svg.js")]
mathjax_path = "tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}  # the menu would load more scripts

# Pages with executed cells say so in their header; a cell that fails fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 900  # on a new machine the first pages also compile
nb_merge_streams = True
nb_output_stderr = "remove"  # on a new machine it says what is compiled
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # no widgets, so no scripts for them

html_theme = "furo"
html_title = f"surefoot {version}"
html_css_files = ["surefoot.css"]
html_js_files = ["stacked.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False


autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True


def setup(app):
    """Parts of pages that are made while the site is built: typeset formulas, and the references."""
    import api
    from math_page import typeset
    from pygments.lexers.special import TextLexer

    def make(app, name, source):
        if name == "math":
            source[0] = typeset(source[0])
        source[0] = re.sub(
            r"^<!-- made: (\w+) -->$",
            lambda found: importlib.import_module(found[1]).reference(),
            source[0],
            flags=re.MULTILINE,
        )

    app.add_lexer("csv", TextLexer)  # a table is shown as it is
    app.connect("source-read", make)
    app.connect("autodoc-process-docstring", lambda app, what, name, thing, options, lines: api.as_rst(lines))
