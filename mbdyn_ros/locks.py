"""Locks that a forked process has anew.

A fork copies locks as they are. One that another thread held at that moment stays locked in the
child forever, since the thread that would release it does not exist there.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import threading
import weakref
from types import TracebackType


class Lock:
    """A lock for `with`; in a forked process it is free.

    reentrant : whether the thread that holds it may take it again.
    """

    def __init__(self, reentrant: bool = False) -> None:
        self._make = threading.RLock if reentrant else threading.Lock
        self.renew()
        _locks.add(self)

    def renew(self) -> None:
        """Be free, whoever held it."""
        self._lock = self._make()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()


_locks: weakref.WeakSet[Lock] = weakref.WeakSet()

_others: list[bool] = []
"""Whether other threads ran when a process was forked that is about to begin."""


def _before() -> None:
    _others.append(threading.active_count() > 1)


def _in_parent() -> None:
    _others.pop()


def _in_child() -> None:
    if not _others.pop():
        return
    for lock in list(_locks):
        lock.renew()
    if sys.version_info < (3, 12):  # cached properties have locks of their own there
        for one in gc.get_objects():
            if isinstance(one, functools.cached_property):
                own = vars(one)
                own["lock"] = own["lock"] if isinstance(own["lock"], Lock) else threading.RLock()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
