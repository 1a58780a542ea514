"""Notebooks as pages: their words, programs and results as they are stored; nothing is run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def read(app: Any, page: str, source: list[str]) -> None:
    """Turn the source of a page that is a notebook into Markdown."""
    path = Path(app.env.doc2path(page))
    if path.suffix == ".ipynb":
        source[0] = "\n\n".join(_parts(json.loads(source[0]), path.name))


def _parts(notebook: dict[str, Any], name: str) -> Iterator[str]:
    """Cells and their outputs, and a link to the file after the first, which has the title."""
    for k, cell in enumerate(notebook["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield text.replace("](../gallery/", "](../../examples/gallery/")
        else:
            yield f"```python\n{text}\n```"
        if k == 0:
            yield f"Download the {{download}}`notebook <{name}>`, and run it in a clone."
        for output in cell.get("outputs", ()):
            if "text" in output:
                yield f"```text\n{''.join(output['text']).rstrip()}\n```"
            elif image := output.get("data", {}).get("image/png"):
                yield f"![result](data:image/png;base64,{''.join(image).replace(chr(10), '')})"


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
