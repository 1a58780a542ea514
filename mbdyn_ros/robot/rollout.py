"""Many motions at once: forward dynamics integrated in compiled code."""

from __future__ import annotations

import ctypes
import math

import numpy as np

from ..arguments import coordinate_array, require_unit_quaternions
from ..compiler.compiled_kernel import CompiledKernel
from ..compiler.compiled_program import CompiledProgram
from ..compiler.kernel import Kernel
from ..compiler.loading import load_vectors
from ..compiler.program import Program, Variant
from ..compiler.runtime.library import runtime
from ..compiler.source import library_text
from ..compiler.threads import threads_for
from ..equations.algebra.spatial import SX
from ..equations.position_rate import PositionRate, position_rate
from ..equations.system import System
from ..errors import InputError
from ..model.model import Array

ORDERS = {"semi_implicit": 1, "rk4": 4}
"""Order of every method."""


class Rollout:
    """Rollouts of one robot.

    Parameters
    ----------
    kernel : forward dynamics; it serves where nothing can be compiled.
    """

    def __init__(self, system: System, kernel: Kernel) -> None:
        self._system, self._kernel = system, kernel
        self._rate = PositionRate(system.coordinates)
        self._forward: CompiledProgram | None = None
        if isinstance(kernel, CompiledKernel):
            self._forward, self._rate_of_q = kernel.vectors, load_rate(system)

    def __call__(
        self, q: Array, v: Array, effort: Array, dt: float, order: int, terminal: bool
    ) -> tuple[Array, Array]:
        """Positions and velocities after every step, or after the last.

        Parameters
        ----------
        q, v : (nq,), (nv,) or (N, ...). effort : (T, ne) or (N, T, ne).
        """
        counts = {len(x) for x, single in ((q, 1), (v, 1), (effort, 2)) if x.ndim > single}
        count, steps = max(counts, default=1), effort.shape[-2]
        shape = (count,) if terminal else (count, steps)
        q_out, v_out = (np.empty((*shape, x.shape[-1])) for x in (q, v))
        if terminal and not steps:
            q_out[:], v_out[:] = q, v
        elif self._forward is None or self._rate_of_q is None:
            self._interpret(q, v, effort, dt, order, q_out, v_out)
        elif count and steps:
            programs = self._forward, self._rate_of_q
            self._run(programs, q, v, effort, dt, order, q_out, v_out)
        return (q_out, v_out) if counts else (q_out[0], v_out[0])

    def _run(
        self,
        programs: tuple[CompiledProgram, CompiledProgram],
        q: Array,
        v: Array,
        effort: Array,
        dt: float,
        order: int,
        q_out: Array,
        v_out: Array,
    ) -> None:
        """In C; programs: accelerations, and rates of positions."""
        count, steps = len(q_out), effort.shape[-2]
        q, v, effort = (np.ascontiguousarray(x) for x in (q, v, effort))
        given: list[object] = [program.address for program in programs]
        given += [ctypes.c_size_t(count), ctypes.c_size_t(steps)]
        for array, single in ((q, 1), (v, 1), (effort, 2)):
            stride = array[0].size if array.ndim > single else 0
            given += [ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(stride)]
        runtime().rollout(
            *given,
            ctypes.c_void_p(self._kernel.home.ctypes.data),
            ctypes.c_double(dt),
            order,
            int(q_out.ndim == 3),
            ctypes.c_void_p(q_out.ctypes.data),
            ctypes.c_void_p(v_out.ctypes.data),
            threads_for(count * steps * order * programs[0].operations),
        )

    def _interpret(
        self, q: Array, v: Array, effort: Array, dt: float, order: int, q_out: Array, v_out: Array
    ) -> None:
        """The same step by step, for all motions at once."""
        count, steps = len(q_out), effort.shape[-2]
        q, v = (np.array(np.broadcast_to(x, (count, x.shape[-1]))) for x in (q, v))

        def rate(q: Array, v: Array) -> Array:
            result = np.empty_like(q)
            for row in zip(q, v, result, strict=True):
                self._rate(*row)
            return result

        def accelerate(q: Array, v: Array) -> Array:
            return self._kernel.batch([q, v, at], count)

        self._rate.normalize(q)
        for t in range(steps):
            at = np.ascontiguousarray(np.broadcast_to(effort[..., t, :], (count, effort.shape[-1])))
            if order == 1:
                v = v + dt * accelerate(q, v)
                q = q + dt * rate(q, v)
            else:
                by_q, by_v = [rate(q, v)], [accelerate(q, v)]
                for span in (dt / 2, dt / 2, dt):
                    x, y = q + span * by_q[-1], v + span * by_v[-1]
                    by_q.append(rate(x, y))
                    by_v.append(accelerate(x, y))
                q = q + dt / 6 * (by_q[0] + 2 * (by_q[1] + by_q[2]) + by_q[3])
                v = v + dt / 6 * (by_v[0] + 2 * (by_v[1] + by_v[2]) + by_v[3])
            self._rate.normalize(q)
            if q_out.ndim == 3:
                q_out[:, t], v_out[:, t] = q, v
        if q_out.ndim == 2:
            q_out[:], v_out[:] = q, v


def load_rate(system: System) -> CompiledProgram | None:
    """Rates of positions (q, v) in C, for a vector of states."""

    def text() -> str:
        coordinates = system.coordinates
        q, v = SX.sym("q", coordinates.nq), SX.sym("v", coordinates.nv)
        rate = position_rate(coordinates, q, v)
        return library_text(Program(Variant("position_rate"), {"q": q, "v": v}, rate), "v", "", ())

    return load_vectors("position_rate-batch", system.digest(), text)


def checked_efforts(value: object, labels: tuple[str, ...]) -> Array:
    """Efforts (T, ne) or (N, T, ne) as float64, or words about why they are none."""
    array = np.asarray(value)
    if array.ndim not in (2, 3) or array.shape[-1] != len(labels):
        raise InputError(
            f"efforts has shape {array.shape}: expected (T, {len(labels)}) for T steps, or "
            f"(N, T, {len(labels)}), in the order {', '.join(labels)}"
        )
    flat = coordinate_array("efforts", array.reshape(-1, len(labels)), labels)
    return flat.reshape(array.shape)


def checked_step(dt: object) -> float:
    """The length of a step, s."""
    if not isinstance(dt, (int, float, np.number)) or not (math.isfinite(dt) and dt > 0):
        raise InputError(f"dt must be a positive number of seconds; it is {dt!r}")
    return float(dt)


def checked_start(system: System, q: object, v: object, efforts: Array) -> tuple[Array, Array]:
    """The states to start from, refused where they do not fit the efforts or each other."""
    coordinates = system.coordinates
    start = coordinate_array("q0", q, coordinates.position_labels)
    speed = coordinate_array("v0", v, coordinates.velocity_labels)
    require_unit_quaternions(coordinates, start)
    sizes = {
        name: len(array)
        for name, array, single in (("q0", start, 1), ("v0", speed, 1), ("efforts", efforts, 2))
        if array.ndim > single
    }
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise InputError(f"the batches have different lengths: {listed}")
    return start, speed
