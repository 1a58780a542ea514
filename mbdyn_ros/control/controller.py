"""A controller on the measured state: its mode, its gains, and a change of mode without a jump.

When the law changes, the difference of efforts fades out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from ..arguments import Sealed, require_link, single_vector
from ..array import Array
from ..compiler.kernel import Bound
from ..equations import control_laws as laws
from ..equations.control_laws import AXES_OF_LINK, MODES, YIELDING, gains
from ..errors import InputError, unknown
from ..prepare.tree import WORLD
from ..robot import Robot
from .sampled import loop_eigenvalues

MEASURED_STEP = 1e-6
"""Step (rad, m and their rates) of the differences that find how efforts depend on the state."""

STATE = (
    "q", "v", "wanted_q", "wanted_v", "wanted_a", "place", "turn", "twist", "twist_rate", "posture",
    "external",
)  # fmt: skip
"""Arrays of a controller that its efforts depend on."""

REST_AFTER = 0.1
"""s between two cycles, after which an admittance restarts."""

STANDSTILL = "gravity_compensation"
"""The mode that a controller begins with: it follows nothing."""


class Admittance:
    """How far n joints give way to external efforts: a mass, a damper and a spring for each.

    The displacement y of a joint from where it is wanted obeys

        I y'' + D y' + K y = r

    under what is left of its external effort r beyond a dead zone (Hogan 1985; Ott, Mukherjee and
    Nakamura 2010). It moves the reference of a stiff law, so that friction and a poor model of the
    drives do not hold the joint back. Each step is implicit (backward Euler): stable for all gains.

    Attributes
    ----------
    y, rate, acceleration : (n,) rad or m, and their rates.
    """

    def __init__(self, n: int) -> None:
        self.y, self.rate, self.acceleration = np.zeros((3, n))

    def rest(self) -> None:
        """Give way no more: zero, at rest."""
        self.y[:] = self.rate[:] = self.acceleration[:] = 0.0

    def advance(
        self,
        external: Array,
        step: float,
        inertia: Array,
        damping: Array,
        stiffness: Array,
        dead_zone: Array,
        room: tuple[Array, Array],
    ) -> None:
        """Advance by a step (s) under external efforts (n,).

        inertia, damping, stiffness : (n,) kg m^2 or kg, ...; a joint without inertia stays.
        dead_zone : (n,) N m or N that are not felt. room : lowest and highest y, where it stops.
        """
        felt = external - np.clip(external, -dead_zone, dead_zone)
        resisting = inertia + step * (damping + step * stiffness)
        pushed = inertia * self.rate + step * (felt - stiffness * self.y)
        gives = inertia > 0
        rate = np.where(gives, pushed / np.where(gives, resisting, 1.0), 0.0)
        there = np.clip(self.y + step * rate, *room)
        reached = (there - self.y) / step
        self.acceleration[:] = np.where(
            np.abs(reached - rate) <= 1e-9 * np.abs(rate), (reached - self.rate) / step, 0.0
        )
        self.y[:], self.rate[:] = there, reached


class Controller(Sealed):
    """A controller: the efforts of one of the control laws `MODES`, at every cycle.

    Fill `q` and `v`, and what the mode follows, in place, or assign to them, which copies; call
    `cycle`; read `effort`. A cycle allocates little and compiles nothing.

    Parameters
    ----------
    robot : with a fixed base, one position for each velocity.
    link : that Cartesian impedance is about; without it, there is no such mode.
    fading : seconds in which a change of mode fades out the difference of efforts.

    Attributes
    ----------
    q, v : (n,) the measured state of the independent joints.
    wanted_q, wanted_v, wanted_a : (n,) where the joints are wanted. Angles are taken as they are:
        of endless joints give those nearest to q.
    admittance : how far the joints give way.
    place, turn, twist, twist_rate : (3,), (4,) x y z w, (6,), (6,) the wanted pose of the link, its
        velocity and acceleration, linear then angular, in the world.
    external : (n,) external efforts of the joints, such as an `Observer` has, to which the mode
        `admittance` gives way.
    posture : (n,) where Cartesian impedance draws the joints without moving the link.
    effort : (efforts,) of the actuated joints, N m or N, within `bound` where `enforced`.
    bound : (efforts,) greatest efforts; those of the description.
    mode : name of the present mode; `switch` changes it.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> control = Controller(mbdyn_ros.load(CART))
    >>> control.set_gains(kp=[100.0], kd=[20.0])
    >>> control.switch("computed_torque")               # holds where it is
    >>> control.wanted_q[:] = 0.1
    >>> control.cycle(0.0)
    array([20.])
    """

    OTHERWISE: ClassVar[Mapping[str, str]] = {
        "mode": "switch(mode) changes it",
        "robot": "replace_robot(robot) takes the same robot with other numbers",
        "effort": "cycle(now) fills it",
        "bound": "bound[:] = ... changes it in place",
        "fading": "fading.duration is its time",
    }

    bound: Array

    def __init__(self, robot: Robot, link: str = "", fading: float = 0.3) -> None:
        if robot.system.coordinates.quaternions:
            raise InputError(
                f"{robot.model.source}: a floating or spherical joint has no reference in numbers: "
                "control is for a fixed base and joints without quaternions"
            )
        self._link = link and require_link(robot.system.tree, link, robot.model.source)
        if link and robot.system.tree.frames[link][0] == WORLD:
            raise InputError(f"{robot.model.source}: link {link!r} is fixed to the world")
        n = robot.nv
        self.q, self.v, self.posture, self.external = np.zeros((4, n))
        self.wanted_q, self.wanted_v, self.wanted_a = np.zeros((3, n))
        self.place, self.turn = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        self.twist, self.twist_rate = np.zeros((2, 6))
        self._gains = {name: np.zeros(len(self._rows(name, robot))) for name in gains()}
        self.admittance, self._last = Admittance(n), [math.nan]
        self.fading = Fading(fading)
        self._enforced = True
        self.mode = STANDSTILL
        self.replace_robot(robot)
        self._most = np.zeros(len(self.bound))
        self.effort = np.zeros(len(self.bound))
        self.seal()

    def __setattr__(self, name: str, value: object) -> None:
        if self._sealed and name in STATE:
            held = getattr(self, name)
            held[:] = single_vector(name, value, [f"number {k}" for k in range(len(held))])
        else:
            super().__setattr__(name, value)

    def __repr__(self) -> str:
        link = f", link {self._link!r}" if self._link else ""
        return f"Controller({self.robot.model.name!r}, mode {self.mode!r}{link})"

    # ---- robot and gains ------------------------------------------------------------------

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self._robot

    @property
    def enforced(self) -> bool:
        """Whether efforts are held to `bound`."""
        return self._enforced

    @enforced.setter
    def enforced(self, enforced: bool) -> None:
        self._enforced = bool(enforced)

    @property
    def modes(self) -> tuple[str, ...]:
        """Names of the modes that there are."""
        return tuple(name for name, mode in MODES.items() if self._link or mode.follows != "pose")

    def replace_robot(self, robot: Robot) -> None:
        """Go on with the same robot with other numbers, such as another gravity."""
        self._robot = robot
        object.__setattr__(self, "bound", np.array(robot.effort_limits, dtype=float))
        self._laws = {}
        for name in self.modes:
            about = self._link if MODES[name].follows == "pose" else None
            self._laws[name] = Bound(robot.calls.kernel(MODES[name].law, about))
        if self._link:
            self._pose = Bound(robot.calls.kernel(laws.link_pose, self._link))
            self._error = Bound(robot.calls.kernel(laws.link_error, self._link))

    def _rows(self, name: str, robot: Robot) -> Sequence[str]:
        return AXES_OF_LINK if name.startswith("link") else robot.velocity_labels

    def set_gains(self, **values: Sequence[float]) -> None:
        """Set gains: each none (zeros), one for all, or one for each joint or axis of the link.

        Raises
        ------
        InputError
            An unknown gain, a wrong count, or a number below 0 or not finite.
        """
        whole: dict[str, Array] = {}
        for name, given in values.items():
            if name not in self._gains:
                raise InputError(unknown("gain", name, self._gains))
            labels = self._rows(name, self._robot)
            if len(given) not in (0, 1, len(labels)):
                raise InputError(
                    f"{name} has {len(given)} numbers; give none, one for all, or {len(labels)}: "
                    f"{', '.join(labels)}"
                )
            numbers = np.zeros(len(labels))
            numbers[:] = list(given) if len(given) else 0.0
            if not (np.isfinite(numbers) & (numbers >= 0)).all():
                raise InputError(f"{name} is {list(given)}: gains are 0 or more")
            whole[name] = numbers
        for name, numbers in whole.items():
            if not np.array_equal(numbers, self._gains[name]):
                self._gains[name] = numbers
                if name in MODES[self.mode].gains:
                    self.fading.begin()

    # ---- cycles ---------------------------------------------------------------------------

    def switch(self, mode: str) -> None:
        """Change the mode: it begins where the robot is, and its efforts where they are.

        What the new mode follows becomes the present state, at rest. The difference between the
        last efforts and those of the new mode is added to these, and fades out.
        """
        if mode not in self.modes:
            more = "" if self._link else "; cartesian_impedance needs a link"
            raise InputError(f"there is no mode {mode!r}; there are {', '.join(self.modes)}{more}")
        object.__setattr__(self, "mode", mode)
        self.capture()
        self.fading.begin()

    def capture(self) -> None:
        """Want the present state, at rest."""
        self.admittance.rest()
        self.wanted_q[:] = self.posture[:] = self.q
        for one in (self.wanted_v, self.wanted_a, self.twist, self.twist_rate):
            one[:] = 0.0
        if self._link:
            self._pose.q[:] = self.q
            self._pose()
            self.place[:], self.turn[:] = self._pose.result[:3], self._pose.result[3:]

    def rest(self) -> Array:
        """Efforts of zero; the next cycle has those of its mode at once."""
        self.effort[:] = 0.0
        self.fading.end()
        self.admittance.rest()
        return self.effort

    def cycle(self, now: float) -> Array:
        """Compute the efforts at a time (s), and store them in `effort`.

        Raises
        ------
        InputError
            An effort that is not finite, by joint; in the words of inverse dynamics where it knows
            why.
        """
        self._give_way(now)
        wanted = self._efforts(self.q, self.v)
        if not math.isfinite(sum(wanted.tolist())):
            self._robot.inverse_dynamics(self.q, self.v, self.wanted_a)  # says why
            k = int(np.argmin(np.isfinite(wanted)))
            raise InputError(f"the effort of {self._robot.effort_labels[k]} is {wanted[k]}")
        self.effort[:] = self.fading.blend(wanted, self.effort, now)
        if self._enforced:
            np.maximum(self._most, np.abs(self.effort), out=self._most)
            np.clip(self.effort, -self.bound, self.bound, out=self.effort)
        return self.effort

    def _give_way(self, now: float) -> None:
        """Let the reference give way, in a mode that does."""
        step, self._last[0] = now - self._last[0], now
        if YIELDING[0] not in MODES[self.mode].gains:
            return
        if not 0 < step <= REST_AFTER:
            if step:
                self.admittance.rest()
            return
        low, high = self._robot.position_limits
        room = np.minimum(low - self.wanted_q, 0.0), np.maximum(high - self.wanted_q, 0.0)
        inertia, damping, stiffness, dead_zone = (self._gains[name] for name in YIELDING)
        self.admittance.advance(
            self.external, step, inertia, damping, stiffness, dead_zone, room
        )

    def _efforts(self, q: Array, v: Array) -> Array:
        """Efforts of the present mode's law at a state, in memory of its own."""
        mode, law = MODES[self.mode], self._laws[self.mode]
        law.q[:], law.v[:] = q, v
        for name, given in mode.gains.items():
            if given:
                getattr(law, given)[:] = self._gains[name]
        if mode.follows == "joints":
            yielded = self.admittance
            law.error[:] = self.wanted_q + yielded.y - q
            law.wanted_v[:] = self.wanted_v + yielded.rate
            law.wanted_a[:] = self.wanted_a + yielded.acceleration
        elif mode.follows == "pose":
            for one in ("place", "turn", "twist", "twist_rate"):
                getattr(law, one)[:] = getattr(self, one)
            law.posture[:] = self.posture - q
        law()
        result: Array = law.result
        return result

    # ---- watching -------------------------------------------------------------------------

    def farthest(self) -> tuple[str, float]:
        """The joint, or the part of the link's pose, that is farthest from where it is wanted.

        Its name, and how far (rad or m) it is; of a mode that follows nothing, 0.
        """
        follows = MODES[self.mode].follows
        if follows == "joints":
            apart = np.abs(self.wanted_q + self.admittance.y - self.q)
            labels = self._robot.velocity_labels
        elif follows == "pose":
            self._error.q[:] = self.q
            self._error.place[:], self._error.turn[:] = self.place, self.turn
            self._error()
            left = self._error.result.ravel()
            apart = np.linalg.norm(left.reshape(2, 3), axis=1)
            labels = (f"the place of {self._link}", f"the orientation of {self._link}")
        else:
            return "nothing", 0.0
        k = int(np.argmax(apart)) if len(apart) else -1
        return (labels[k], float(apart[k])) if k >= 0 else ("nothing", 0.0)

    def saturated(self) -> list[str]:
        """The joints whose efforts were clamped since this was asked before, in words."""
        most, self._most = self._most, np.zeros(len(self.bound))
        return [
            f"{label} ({wanted:.4g} wanted, {bound:g} allowed)"
            for label, wanted, bound in zip(
                self._robot.effort_labels, most.tolist(), self.bound.tolist(), strict=True
            )
            if wanted > bound
        ]

    def twin(self) -> Controller:
        """A controller in the same state, for another thread."""
        other = Controller(self._robot, self._link, self.fading.duration)
        for name in (*STATE, "effort", "bound"):
            getattr(other, name)[:] = getattr(self, name)
        for name in vars(self.admittance):
            getattr(other.admittance, name)[:] = getattr(self.admittance, name)
        other._gains = {name: numbers.copy() for name, numbers in self._gains.items()}
        object.__setattr__(other, "mode", self.mode)
        other.enforced = self.enforced
        return other

    def eigenvalues(self, period: float) -> Array:
        """Eigenvalues of the loop at the present state, sampled every `period` (s); see `sampled`.

        The derivatives of the efforts by the state are central differences.
        """
        effort, n = self._efforts(self.q, self.v).copy(), len(self.q)
        state = np.concatenate([self.q, self.v])
        feedback = np.zeros((len(effort), 2 * n))
        for k in range(2 * n):
            for step in (MEASURED_STEP, -MEASURED_STEP):
                moved = state.copy()
                moved[k] += step
                feedback[:, k] += self._efforts(moved[:n], moved[n:]) / (2 * step)
        return loop_eigenvalues(self._robot, self.q, self.v, effort, feedback, period)


class Fading:
    """Adds to the efforts of a new law what they differ from the last ones, less and less.

    The share that is left falls from 1 to 0 in `duration` (s) along the polynomial of degree 5 that
    begins and ends with no slope and no curvature. At rest there are no last efforts to fade from.
    """

    def __init__(self, duration: float) -> None:
        self.duration = duration
        self._rests = True
        self._is_new = False
        self._start = 0.0
        self._difference: Array | None = None

    def begin(self) -> None:
        """Fade from the last efforts to those of the next `blend`; at rest there is no need."""
        self._is_new = not self._rests

    def end(self) -> None:
        """Fade no more, and rest until the next `blend`."""
        self._rests, self._is_new, self._difference = True, False, None

    def blend(self, wanted: Array, last: Array, now: float) -> Array:
        """The efforts of a time (s) between the last ones and those that are wanted."""
        self._rests = False
        if self._is_new:
            self._is_new, self._start, self._difference = False, now, last - wanted
        if self._difference is None:
            return wanted
        part = (now - self._start) / self.duration if self.duration > 0 else 1.0
        if part >= 1:
            self._difference = None
            return wanted
        left = 1 - part**3 * (10 - part * (15 - 6 * part))
        return wanted + left * self._difference
