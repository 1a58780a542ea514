"""Something that takes seconds to build, built in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

Built = TypeVar("Built")


class Preparation(Generic[Built]):
    """Builds one thing from now on; the thread ends with the process.

    joints : the independent joints that it is for.
    """

    def __init__(self, joints: list[str], build: Callable[[], Built]) -> None:
        self.joints = joints
        self._future: Future[Built] = Future()

        def run() -> None:
            try:
                self._future.set_result(build())
            except BaseException as error:  # whoever asks for the result meets it
                self._future.set_exception(error)

        threading.Thread(target=run, name="coordinates", daemon=True).start()

    @property
    def done(self) -> bool:
        """Whether `result` returns at once."""
        return self._future.done()

    def result(self) -> Built:
        """The thing built, once it is; raises the error that building it raised."""
        return self._future.result()
