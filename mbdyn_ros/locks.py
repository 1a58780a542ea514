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
from contextlib import ExitStack
from types import TracebackType


class Lock:
    """A lock for `with`; in a forked process it is free.

    reentrant : whether the thread that holds it may take it again.
    forks_wait : whether a fork waits until no other thread holds it: where code that is not Python
        runs meanwhile, whose own locks the child would find taken.
    """

    def __init__(self, reentrant: bool = False, forks_wait: bool = False) -> None:
        self._make = threading.RLock if reentrant else threading.Lock
        self.forks_wait = forks_wait
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

_forks: list[tuple[bool, ExitStack]] = []
"""Of a fork that is about to come: whether other threads run, and the locks that it waited for."""


def _before() -> None:
    held = ExitStack()
    for lock in list(_locks):
        if lock.forks_wait:
            held.enter_context(lock)
    _forks.append((threading.active_count() > 1, held))


def _after() -> bool:
    """Release the locks; whether other threads ran."""
    others, held = _forks.pop()
    held.close()
    return others


def _in_child() -> None:
    if not _after():
        return
    for lock in list(_locks):
        lock.renew()
    if sys.version_info < (3, 12):  # cached properties have locks of their own there
        for one in gc.get_objects():
            if isinstance(one, functools.cached_property):
                own = vars(one)
                own["lock"] = own["lock"] if isinstance(own["lock"], Lock) else threading.RLock()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_child)
