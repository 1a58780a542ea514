"""Topics that are named after links and joints."""

from __future__ import annotations

import re


def topic_of(kind: str, name: str) -> str:
    """The topic `~/kind/name`; what topics may not be called by becomes an underscore."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"~/{kind}/{word if not word[:1].isdigit() else '_' + word}"
