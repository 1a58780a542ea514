"""Write examples/notebooks/: ten programs of the gallery as notebooks, with what they show.

    pip install nbclient ipykernel
    python scripts/notebooks.py

Each cell is a paragraph of the program, its picture in one with all that draws on it; they are run
here, and `test/documents/test_notebooks.py` holds them to the programs.
"""

from __future__ import annotations

import ast
import re
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GALLERY, NOTEBOOKS = ROOT / "examples" / "gallery", ROOT / "examples" / "notebooks"
CHOSEN = (
    "arm_torques", "balance_by_lqr", "coupler_curves", "crane_hold", "force_ellipses",
    "identify_inertias", "loop_of_your_own", "payload_at_once", "piezo_pulses", "tree_in_a_circle",
)  # fmt: skip
STYLE = """import matplotlib.pyplot as plt

plt.style.use("../gallery/gallery.mplstyle")"""


def cells(name: str) -> tuple[str, list[str]]:
    """The words of a program, and its paragraphs; from its figure on all in one."""
    source = (GALLERY / f"{name}.py").read_text()
    tree = ast.parse(source)
    words = ast.get_docstring(tree) or ""
    body = source.split('"""', 2)[2].strip("\n")
    first, drawing = body.split("figure, axes", 1)
    paragraphs = [one for one in re.split(r"\n\n+(?=\S)", first.strip("\n")) if one]
    start = "figure, axes" + drawing
    if not first.endswith("\n\n"):  # the figure is in the middle of a paragraph
        start = f"{paragraphs.pop()}\n{start}"
    return words, [*paragraphs, start]


def write(name: str) -> None:
    """Write a notebook and run it."""
    import nbformat
    from nbclient import NotebookClient

    words, paragraphs = cells(name)
    title = name.replace("_", " ").capitalize()
    form = nbformat.v4
    text = f"# {title}\n{words}\n\nAs a program: [`{name}.py`](../gallery/{name}.py)."
    notebook = form.new_notebook(
        cells=[
            form.new_markdown_cell(text),
            *(form.new_code_cell(one) for one in (STYLE, *paragraphs)),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3",
                                 "language": "python"}},
    )  # fmt: skip
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{name.replace('_', '-')}-{number}"
    with tempfile.TemporaryDirectory() as folder:  # its picture is not for here
        place = Path(folder) / "notebooks"
        place.mkdir()
        (Path(folder) / "gallery").symlink_to(GALLERY)
        NotebookClient(notebook, resources={"metadata": {"path": str(place)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of this run
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, NOTEBOOKS / f"{name}.ipynb")


if __name__ == "__main__":
    NOTEBOOKS.mkdir(exist_ok=True)
    for one in CHOSEN:
        write(one)
