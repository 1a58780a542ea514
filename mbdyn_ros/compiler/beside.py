"""Something that is built in a thread of its own while its owner goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Built = TypeVar("Built")


class Beside(Generic[Built]):
    """Builds one thing from now on; the thread ends with the process."""

    def __init__(self, build: Callable[[], Built]) -> None:
        self._build, self._built, self._problem = build, list[Built](), list[BaseException]()
        self._thread = threading.Thread(target=self._run, name="compiler", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._built.append(self._build())
        except BaseException as error:  # whoever asks for the result meets it
            self._problem.append(error)

    def result(self) -> Built:
        """The thing built, once it is; raises the error that building it raised."""
        self._thread.join()
        for error in self._problem:
            raise error
        return self._built[0]
