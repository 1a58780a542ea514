"""Nodes in processes of their own, which end with the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO

PR_SET_PDEATHSIG = 1


class Children:
    """Starts nodes; ends all of them on exit, whatever happens."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {**os.environ, **environment}
        self._running: list[tuple[str, subprocess.Popen[bytes], IO[bytes]]] = []

    def __enter__(self) -> Children:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(
        self,
        node: str,
        namespace: str,
        parameters: Mapping[str, object],
        remappings: Sequence[str] = (),
    ) -> int:
        """Start the executable `node` in a namespace; return its process number."""
        command = [str(Path(sys.executable).with_name(f"mbdyn_{node}")), "--ros-args"]
        command += ["-r", f"__ns:=/{namespace}"]
        for rule in remappings:
            command += ["-r", rule]
        for name, value in parameters.items():
            command += ["-p", f"{name}:={yaml_value(value)}"]
        log = tempfile.TemporaryFile()
        with interrupted_later():
            process = subprocess.Popen(
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches them through us, once
                preexec_fn=_die_with_parent,
            )
            self._running.append((f"{namespace}/{node}", process, log))
        return process.pid

    def dead(self) -> str:
        """The first node that has ended by itself, with what it said; empty if all run."""
        for name, process, log in self._running:
            if process.poll() is not None:
                return f"{name} ended with code {process.returncode}: {tail(log)}"
        return ""

    def stop(self, patience: float = 10.0) -> list[str]:
        """End all; return the names of those that did not end by themselves with code 0."""
        bad = []
        for _, process, _ in self._running:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for name, process, log in self._running:
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.returncode:
                bad.append(f"{name} ended with code {process.returncode}: {tail(log)}")
            log.close()
        self._running = []
        return bad


def tail(log: IO[bytes], size: int = 1500) -> str:
    """The end of what a process wrote."""
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - size))
    return log.read().decode(errors="replace").strip()


def yaml_value(value: object) -> str:
    """A parameter value as it is written on a command line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(yaml_value(one) for one in value) + "]"
    if isinstance(value, (str, Path)):
        return f'"{value}"'
    return repr(float(value)) if isinstance(value, float) else str(value)


@contextmanager
def interrupted_later() -> Iterator[None]:
    """Hold interrupts back while a process is made: Python loses what their handlers raise then."""
    held: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.signal(number, lambda got, _: held.append(got)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
    for late in held[:1]:
        signal.raise_signal(late)


def _die_with_parent() -> None:
    """Ask Linux for SIGTERM when our parent dies, however it dies; hear what it ignores."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)  # `nohup` and `&` have them ignored
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
