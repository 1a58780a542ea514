"""Motions from noisy positions: a zero-phase filter, its cut-off from the data, and derivatives.

The filter is Butterworth's run to and fro, so that nothing is late; efforts pass through the same
one, so that what is left of both agrees (Gautier, "Dynamic identification of robots with power
model", 1997). Its cut-off lies well above the band of the motion, that of the velocities: a
position's spectrum where it exceeds the noise (taken from its upper half), times (2 pi f)^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..array import Array
from ..errors import InputError
from ..robot import Robot
from .measured import Recording

FILTER_ORDER = 4
"""Of the filter, each way."""

PADDING = 4.0
"""Periods of the cut-off by which samples go on at both ends."""

OUTSIDE_BAND = 0.02
"""Share of the power of velocities that may lie above the band of a motion."""

ABOVE_MOTION = 10.0
"""Cut-off over the band of a motion (Gautier 1997)."""

STEEPEST_NOISE, ABOVE_NOISE = 2.0, 10.0
"""Exponent of the power of noise over frequency at most; power over it that noise hardly ever has.
"""

BAND = 0.2
"""Cut-off over the rate of samples at most."""

EDGE = 1.5
"""Periods of the cut-off at both ends that are left out."""

ROWS_A_PERIOD = 8.0
"""Rows kept in a period of the cut-off: more add no information."""

PAUSE_STEPS = 4.0
"""Steps from which a pause between two samples parts a recording."""

SHORTEST_PART = 40
"""Samples of a part that is used."""

LIVELY = 0.3
"""Share of samples in which an effort must change: others are held, not clipped."""

CLIPPED = 0.02
"""Share of samples at the very largest effort from which efforts are clipped there."""

USUAL, SPIKE, LEAST_SPIKE = 0.99, 4.0, 0.05
"""A sample is an outlier from 4 times the distance from its neighbours' median that 99 % keep, and
from this share of the range."""


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion without noise above the cut-off, at rows that carry the information of all samples.

    time : (N,) s. q, v, a, effort : (N, nq), (N, nv), (N, nv), (N, efforts). part : (N,) of a
    recording without gaps. raw_effort : the efforts as they were measured. cutoff, rate : Hz.
    noise : (nq,) deviation of a measured position.
    """

    time: Array
    q: Array
    v: Array
    a: Array
    effort: Array
    raw_effort: Array
    part: Array
    cutoff: float
    rate: float
    noise: Array
    remarks: tuple[str, ...]

    @property
    def step(self) -> int:
        """Samples from one row to the next."""
        return max(1, int(self.rate / (ROWS_A_PERIOD * self.cutoff)))

    def drawn_noise(self, seed: int) -> list[Array]:
        """White noise of the positions in q, v and a: (N, nq), (N, nv), (N, nv).

        It is drawn at the rate of the rows, of the density that noise of samples has.
        """
        white = np.random.default_rng(seed).normal(size=(len(self.time), len(self.noise)))
        white *= self.noise / math.sqrt(self.step)
        return [self._filter(white, order) for order in range(3)]

    @property
    def inner(self) -> Array:
        """1 of rows (N,) that are `EDGE` periods from the ends of their part, else 0.

        There the filter knows what is made of the positions on both sides.
        """
        edge = math.ceil(EDGE * self.rate / self.step / self.cutoff)
        found = np.zeros(len(self.time))
        for one in np.unique(self.part):
            found[np.flatnonzero(self.part == one)[edge:-edge]] = 1.0
        return found

    def filtered(self, columns: Array) -> Array:
        """Rows (N, ...) that are made of its positions, below the cut-off as the efforts are."""
        flat = columns.reshape(len(columns), -1)
        found = np.empty_like(flat)
        for one in np.unique(self.part):
            here = self.part == one
            found[here] = self._filter(flat[here]) if here.sum() > 1 else flat[here]
        return found.reshape(columns.shape)

    @property
    def _filter(self) -> ZeroPhase:
        return ZeroPhase(self.cutoff, self.rate / self.step)

    def rows(self, kept: slice) -> Motion:
        """The motion at some of its rows."""
        names = ("time", "q", "v", "a", "effort", "raw_effort", "part")
        return replace(self, **{one: getattr(self, one)[kept] for one in names})


class ZeroPhase:
    """Butterworth's low-pass, run to and fro: gain 1 / (1 + (f / cutoff)^(2 n)), no phase."""

    def __init__(self, cutoff: float, rate: float) -> None:
        self.cutoff, self.rate = cutoff, rate

    def __call__(self, samples: Array, order: int = 0) -> Array:
        """Samples (N, n) without what is above the cut-off, or their derivative of an order.

        They go on at both ends as they came, turned by half a turn, and less a line; at the end
        until their number is one whose Fourier transform is quick.
        """
        count = len(samples)
        more = min(count - 1, int(PADDING * self.rate / self.cutoff))
        last = min(count - 1, _quick(count + 2 * more) - count - more)
        before = 2 * samples[:1] - samples[more:0:-1]
        after = 2 * samples[-1:] - samples[-2 : -last - 2 : -1]
        whole = np.concatenate([before, samples, after])
        slope = (whole[-1] - whole[0]) / (len(whole) - 1)
        line = np.arange(len(whole))[:, None] * slope
        frequency = np.fft.rfftfreq(len(whole), 1 / self.rate)[:, None]
        low = 1 / (1 + (frequency / self.cutoff) ** (2 * FILTER_ORDER))
        gain = (2j * np.pi * frequency) ** order * low
        found = np.fft.irfft(gain * np.fft.rfft(whole - line, axis=0), len(whole), axis=0)
        found += (line, slope * self.rate, 0.0)[order]
        result: Array = found[more : more + count]
        return result


def _quick(count: int) -> int:
    """The least number of samples m 2^k, of a few small m, that is not less than a count."""
    return min(m << max(0, math.ceil(math.log2(count / m))) for m in (8, 9, 10, 12, 15))


def conditioned(robot: Robot, recording: Recording, cutoff: float = 0.0) -> Motion:
    """A recording's motion and efforts below a cut-off (Hz; 0: that which the data ask for).

    Raises
    ------
    InputError
        Its parts without gaps are too short, or the base floats.
    """
    if robot.system.coordinates.quaternions:
        raise InputError(
            f"{robot.model.source}: has coordinates that are quaternions (a floating base or "
            "spherical joints), which cannot be filtered here; lock them"
        )
    remarks = list[str]()
    parts = _parts(recording, remarks)
    rate = 1 / recording.step
    q = [_wrapped(robot, recording.q[one]) for one in parts]
    efforts = [recording.effort[one] for one in parts]
    spikes = sum(_without_spikes(one) for one in (*q, *efforts))
    if spikes:
        remarks.append(f"{spikes} samples are outliers next to their neighbours and are replaced")
    regular = [
        _regular(recording.time[one], rows, effort, rate)
        for one, rows, effort in zip(parts, q, efforts, strict=True)
    ]
    if not cutoff:
        longest = max(len(time) for time, _, _ in regular)
        cutoff = max(
            chosen_cutoff(rows, rate) for time, rows, _ in regular if len(time) > longest / 2
        )
        remarks.append(f"motion and efforts are filtered at {cutoff:.3g} Hz (zero phase), "
                       f"{ABOVE_MOTION:g} times the band of the motion")  # fmt: skip
    filter_ = ZeroPhase(cutoff, rate)
    edge, step = math.ceil(EDGE * rate / cutoff), max(1, int(rate / (ROWS_A_PERIOD * cutoff)))
    found = list[list[Array]]()
    for number, (time, rows, effort) in enumerate(regular):
        kept = slice(edge, len(time) - edge, step)
        if len(time) > 2 * edge + SHORTEST_PART:
            motion = [filter_(rows, order)[kept] for order in range(3)]
            part = np.full(len(time[kept]), number)
            found.append([time[kept], *motion, filter_(effort)[kept], effort[kept], part])
    if not found:
        raise InputError(
            f"no part of the recording without gaps has {2 * edge + SHORTEST_PART} samples, which "
            f"a filter of {cutoff:.3g} Hz needs; record longer"
        )
    t, x, v, a, smooth, raw, part = (np.concatenate(rows) for rows in zip(*found, strict=True))
    noise = np.min([position_noise(rows) for _, rows, _ in regular], axis=0)
    return Motion(t, x, v, a, smooth, raw, part, cutoff, rate, noise, tuple(remarks))


def chosen_cutoff(rows: Array, rate: float) -> float:
    """Hz, `ABOVE_MOTION` times the band of the velocities of positions (N, n) at a rate (Hz)."""
    power, _ = _spectrum(rows)
    frequency = np.asarray(np.fft.rfftfreq(len(rows), 1 / rate), dtype=np.float64)
    floor = noise_floor(power, frequency)
    signal = np.where(power > ABOVE_NOISE * floor, power - floor, 0.0)
    share = np.cumsum(frequency[:, None] ** 2 * signal, axis=0)
    moving = share[-1] > 0
    if not moving.any():
        return BAND * rate
    inside = share[:, moving] < (1 - OUTSIDE_BAND) * share[-1, moving]
    band = frequency[np.minimum(inside.argmin(axis=0), len(frequency) - 1)].max()
    return float(np.clip(ABOVE_MOTION * band, 20 * frequency[1], BAND * rate))


def position_noise(rows: Array) -> Array:
    """Deviation (n,) of a position (N, n) that the upper half of its spectrum shows."""
    power, squares = _spectrum(rows)
    result: Array = np.sqrt(power[len(power) // 2 :].mean(axis=0) / squares)
    return result


def _spectrum(rows: Array) -> tuple[Array, float]:
    """The power (k, n) of positions (N, n) less a line, and that of white noise of unit size."""
    count = len(rows)
    centred = rows - np.linspace(0, 1, count)[:, None] * (rows[-1] - rows[0])
    window = np.hanning(count)[:, None]
    spectrum = np.fft.rfft((centred - centred.mean(axis=0)) * window, axis=0)
    squares = max(float((window**2).sum()), 1e-300)
    return np.asarray(np.abs(spectrum) ** 2, dtype=np.float64), squares


def noise_floor(power: Array, frequency: Array) -> Array:
    """The power (k, n) of noise by frequency (k,): a law f^-s through the upper half of a spectrum.

    s is 0 of white noise, and 2 of one that wanders, as positions do under stamps that jitter.
    """
    half = len(frequency) // 2
    log_f = np.log(frequency[half:] / frequency[-1])[:, None]
    log_p = np.log(np.maximum(power[half:], np.finfo(float).tiny))
    off = log_f - log_f.mean()
    slope = (off * log_p).sum(axis=0) / max(float((off**2).sum()), 1e-300)
    slope = np.clip(slope, -STEEPEST_NOISE, 0.0)
    level = power[half:].mean(axis=0) / np.exp(log_f * slope).mean(axis=0)
    ratio = np.maximum(frequency, frequency[1])[:, None] / frequency[-1]
    result: Array = level * ratio**slope
    return result


def _parts(recording: Recording, remarks: list[str]) -> list[slice]:
    """The rows between gaps."""
    steps = np.diff(recording.time)
    gaps = np.flatnonzero(steps > PAUSE_STEPS * recording.step) + 1
    ends = [0, *gaps.tolist(), len(recording.time)]
    if gaps.size:
        first = recording.time[gaps[0] - 1]
        remarks.append(
            f"{gaps.size} gaps part the recording, the first after {first:.3f} s, the longest of "
            f"{steps.max():.3g} s; nothing is filtered across them"
        )
    return [slice(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]


def _wrapped(robot: Robot, q: Array) -> Array:
    """Positions without jumps by whole turns."""
    result = q.copy()
    for motion, place, _ in robot.system.coordinates.motions:
        if motion.is_periodic:
            result[:, place] = np.unwrap(q[:, place], axis=0)
    return result


def _without_spikes(rows: Array) -> int:
    """Replace single samples far from the median of their neighbours, in place; how many."""
    count = 0
    for column in rows.T:
        around = np.lib.stride_tricks.sliding_window_view(np.pad(column, 2, "edge"), 5)
        middle = np.median(around, axis=1)
        off = np.abs(column - middle)
        usual = float(np.quantile(off, USUAL))
        far = off > max(SPIKE * usual, LEAST_SPIKE * float(np.ptp(middle)), 1e-12)
        column[far] = middle[far]
        count += int(far.sum())
    return count


def _regular(time: Array, q: Array, effort: Array, rate: float) -> tuple[Array, Array, Array]:
    """Rows at regular times."""
    count = max(2, round((time[-1] - time[0]) * rate) + 1) if len(time) > 1 else len(time)
    if len(time) < 2:
        return time, q, effort
    regular = np.linspace(time[0], time[-1], count)
    q, effort = (
        np.column_stack([np.interp(regular, time, one) for one in rows.T]) for rows in (q, effort)
    )
    return regular, q, effort


def clipped(effort: Array) -> Array:
    """Whether efforts (N, n) are at a bound that many of them have."""
    found = np.zeros_like(effort, dtype=bool)
    for k, column in enumerate(effort.T):
        for bound in {float(column.max()), float(column.min())}:
            there = np.abs(column - bound) <= 1e-9 * abs(bound)
            changes = np.diff(column[~there]) != 0
            if there.mean() > CLIPPED and (not changes.size or changes.mean() > LIVELY):
                found[:, k] |= there
    return found
