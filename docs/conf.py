"""The book: Sphinx reads the Markdown of this folder, and the docstrings of the package."""

from __future__ import annotations

from importlib.metadata import version as installed
from typing import Any

project = "mbdyn_ros"
author = "mbdyn_ros developers"
copyright = "mbdyn_ros developers, Apache-2.0"  # noqa: A001
version = release = installed("mbdyn_ros")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # numpydoc's words say more
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = "mbdyn_ros"
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def _keep_bars(app: Any, what: str, name: str, it: Any, options: Any, lines: list[str]) -> None:
    """Norms such as |q| are no substitutions."""
    lines[:] = [line if ">>>" in line else line.replace("|", "\\|") for line in lines]


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", _keep_bars)
