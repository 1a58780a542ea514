"""Print docs/cheat_sheet.md as two pages: `python scripts/cheat_sheet.py`, with Chromium."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt

from mbdyn_ros.view.page.screenshot import WINDOWLESS

SHEET = Path(__file__).parent.parent / "docs" / "cheat_sheet.md"

STYLE = """
@page { size: A4; margin: 9mm 9mm; }
body { columns: 2; column-gap: 6mm; column-fill: auto;
  font: 8.2pt/1.27 "DejaVu Sans", sans-serif; margin: 0; }
h1 { font-size: 13pt; color: #0072b2; margin: 0 0 1mm; }
h2 { font-size: 9.5pt; color: #0072b2; margin: 2.2mm 0 .6mm; border-bottom: .3mm solid;
  break-after: avoid; }
p { margin: 1mm 0; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
td, th { vertical-align: top; text-align: left; padding: .35mm .6mm; font-weight: normal;
  border-bottom: .1mm solid #ccc; }
tr, pre { break-inside: avoid; }
td:first-child { width: 54%; }
td code { overflow-wrap: anywhere; }
code { font: 7.3pt/1.3 "DejaVu Sans Mono", monospace; }
pre { background: #f2f3f5; margin: .8mm 0; padding: 1mm 1.4mm; white-space: pre-wrap; }
pre code { font-size: 7.1pt; }
"""


def title() -> str:
    """What the printed sheet is called: of which text it was made."""
    return f"mbdyn_ros cheat sheet {hashlib.sha256(SHEET.read_bytes()).hexdigest()[:12]}"


def page() -> str:
    """The sheet as HTML."""
    text = SHEET.read_text().replace("# Cheat sheet", "# mbdyn_ros: cheat sheet", 1)
    text = re.sub(r"Two pages to print: .*?\)\. ", "", text, count=1)
    body = MarkdownIt().enable("table").render(text)
    body = body.replace("<thead>\n<tr>\n<th></th>\n<th></th>\n</tr>\n</thead>\n", "")
    body = re.sub(r"(?<=\w/)(?=\w[^<]*</code>)", "<wbr>", body)  # where names of topics may break
    return f"<!doctype html><title>{title()}</title><style>{STYLE}</style>{body}"


def main() -> None:
    """Print it."""
    browser = next(filter(None, map(shutil.which, WINDOWLESS)), None)
    if browser is None:
        sys.exit("scripts/cheat_sheet.py: no chromium on PATH: sudo apt install chromium")
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder) / "cheat_sheet.html"
        html.write_text(page())
        printing = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        subprocess.run(
            [browser, *printing, f"--print-to-pdf={SHEET.with_suffix('.pdf')}", html.as_uri()],
            check=True,
            capture_output=True,
        )


if __name__ == "__main__":
    main()
