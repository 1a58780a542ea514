"""Cases that `make test` leaves to `make test-all`: many examples, and more of the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings


def is_night() -> bool:
    """Whether `make test-all` runs: every case, however long it takes."""
    return settings.get_current_profile_name() == "long"


def at_night(*cases: Any) -> list[Any]:
    """Cases of a parametrized test that only `make test-all` takes."""
    return [pytest.param(*_values(case), marks=pytest.mark.long) for case in cases]


def thin_out(items: Iterable[pytest.Item]) -> None:
    """Leave four of five cases of every test that is `sparse` to `make test-all`.

    Its neighbours leave others, so that by day each case meets some tests of a file. `first` says
    with which case a test begins, as where a fixture takes seconds a case; `of` leaves all but one
    of as many, where cases are heavy and differ little.
    """
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sparse"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    places: Counter[Path] = Counter()
    for cases in tests.values():
        mark = cases[0].get_closest_marker("sparse")
        file = cases[0].path
        given = mark.kwargs if mark else {}
        of = given.get("of", 5)
        first = given.get("first", places[file]) % min(of, len(cases))
        places[file] += 1
        for k, case in enumerate(cases):
            if k % of != first:
                case.add_marker(pytest.mark.long)


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
