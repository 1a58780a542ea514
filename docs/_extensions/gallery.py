"""The gallery's page: a block `{programs}` shows the programs it lists, each with its picture.

The first words of a program's docstring are its heading.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[2] / "examples" / "gallery"
BLOCK = re.compile(r"^```\{programs\}\n([\w\s]+)```$", re.MULTILINE)


def filled(text: str) -> str:
    """A page's Markdown with its blocks replaced by headings, pictures and programs."""
    return BLOCK.sub(lambda found: "\n".join(map(_shown, found[1].split())), text)


def _shown(name: str) -> str:
    docstring = ast.get_docstring(ast.parse((PROGRAMS / f"{name}.py").read_text())) or name
    title = re.split(r"[:.]", docstring)[0]
    return f"""### {title}

![{title}](gallery/{name}.png)

```{{literalinclude}} ../examples/gallery/{name}.py
```
"""
