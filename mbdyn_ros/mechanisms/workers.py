"""Workers of a Dask cluster, for sweeps that one machine is too small for."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InputError


@contextmanager
def connect(address: str | None) -> Iterator[Any]:
    """A client of the scheduler at `address`, or of workers on this machine.

    Raises
    ------
    InputError
        Dask is not installed, or nothing answers at the address.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError(
            "Dask is not installed; `pip install 'mbdyn_ros[dask]'` brings it"
        ) from None
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if address is None:
        with LocalCluster(threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                yield client
        return
    try:
        client = Client(address, timeout="3s")
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        yield client
