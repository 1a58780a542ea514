"""The gallery's page: a line that links to a program shows it, with its picture.

The first words of a program's docstring are its heading. Where the page is read without Sphinx the
links stay.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[2] / "examples" / "gallery"
LINK = re.compile(r"^\[(\w+)\]\(\.\./examples/gallery/\w+\.py\)$", re.MULTILINE)


def filled(text: str) -> str:
    """A page's Markdown with its links replaced by headings, pictures and programs."""
    return LINK.sub(lambda found: _shown(found[1]), text)


def _shown(name: str) -> str:
    docstring = ast.get_docstring(ast.parse((PROGRAMS / f"{name}.py").read_text())) or name
    title = re.split(r"[:.]", docstring)[0]
    return f"""### {title}

![{title}](gallery/{name}.png)

```{{literalinclude}} ../examples/gallery/{name}.py
```
"""
