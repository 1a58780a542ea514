"""What `make test` leaves to `make test-all`: many examples, and more of the same that takes long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def is_night() -> bool:
    """Whether `make test-all` runs: every case, however long it takes."""
    return settings.get_current_profile_name() == "long"


def at_night(*cases: Any) -> list[Any]:
    """Cases of a parametrized test that only `make test-all` takes."""
    return [pytest.param(*_values(case), marks=pytest.mark.long) for case in cases]


def by_day(cases: Iterable[Any], *taken: Any) -> list[Any]:
    """All cases of a parametrized test; `make test` takes only the ones that are named."""
    return [one for case in cases for one in ([case] if case in taken else at_night(case))]


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
