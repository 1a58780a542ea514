"""Positions of the joints for a wanted pose of a link: damped least squares within limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arguments import checked_count, checked_flag, positive_number, require_frame, single_vector
from ..array import Array, ArrayLike, NoNumbers, as_numbers
from ..compiler.kernel import Bound
from ..equations import frames, programs
from ..equations.actuation import joint_rates
from ..errors import InputError, brief, shown
from ..prepare.coordinates import JointBlock
from .configuration import Configurations
from .frames import Frames

MOST_NEWTON_STEPS = 150
"""Most steps from one start; a pose within reach takes five to fifty."""
STARTS = 30
"""Starts that are tried by default: the first, then random ones."""
CLOSED_GAP = 1e-9
"""Gap that counts as none: m, and rad."""
LONGEST_MOVE = 0.5
"""Largest move of a joint in one step, rad; slides may move as many lengths of the robot."""
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e4
"""Bounds of the damping, relative to the square of the Jacobian."""
STALLED = 1e-2
"""Part by which the gap must fall in ten steps for a search to go on."""


@dataclass(frozen=True, eq=False)
class Reached:
    """The outcome of a search for a pose.

    q : (nq,) positions, within the limits: those of the nearest pose where it was not reached.
    position_error, orientation_error : what is left, m and rad; the latter 0 where it is free.
    success : whether both are within the tolerance.
    starts : from how many positions was searched.
    text : about what, for `require`.
    """

    q: Array
    position_error: float
    orientation_error: float
    success: bool
    starts: int
    text: str

    def require(self) -> Array:
        """q; InputError with what is left where the pose was not reached."""
        if self.success:
            return self.q
        turned = f" and {self.orientation_error:.3g} rad" if self.orientation_error else ""
        raise InputError(
            f"{self.text}: the nearest that was found leaves a gap of {self.position_error:.3g} m"
            f"{turned}. Choose a pose within reach"
            + (", or give its position alone" if turned else "")
        )


LEEWAY_OF_BOUNDS = 1e-7
"""How far (rad or m) beyond its limit a dependent joint may be: it is held to it step by step."""
ROOM = 1.0
"""Room (rad or m) from which on a limit does not matter in one step."""


class InverseKinematics(Frames, Configurations):
    """Positions of the joints for a wanted pose of a link."""

    @brief
    def inverse_kinematics(
        self,
        link: str,
        pose: ArrayLike,
        point: ArrayLike = (0.0, 0.0, 0.0),
        position_only: bool = False,
        start: ArrayLike | None = None,
        tolerance: float = CLOSED_GAP,
        starts: int = STARTS,
    ) -> Reached:
        """Independent positions that put a link at a pose, within all position limits.

        Each step is the least one that closes the gap e, damped (Levenberg, Marquardt), and among
        those the limits allow: |J dq - e|^2 + mu |dq|^2 is least under the inequalities that
        positions after the step keep their limits, those of dependent joints in loops too (by their
        rates). It is solved as a least distance problem (Lawson and Hanson, *Solving Least Squares
        Problems*, 1974, ch. 23). The damping mu grows where a step does not help, or where loops
        cannot be closed after it, and shrinks where it does. A search that stalls starts again at a
        random position. A base that floats stays where `start` has it.

        Parameters
        ----------
        link : name of the link.
        pose : (4, 4) homogeneous matrix in the world, m; or (3,) with `position_only`.
        point : of the link, in its axes, that is to arrive at the pose's origin, m.
        position_only : whether the orientation is free.
        start : (nq,) where the search begins; home by default. Near it the answer is looked for
            first.
        tolerance : gap that counts as none, m and rad.
        starts : most searches: one from `start`, the others from random positions, the same each
            time.

        Returns
        -------
        What was reached, which may be the nearest pose within reach: `.q`, `.success`,
        `.position_error` (m), `.orientation_error` (rad); `.require()` is q, or InputError.

        Raises
        ------
        InputError
            An unknown link, not a pose, or numbers that do not fit.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART)
        >>> pose = np.eye(4)
        >>> pose[0, 3] = 0.7
        >>> robot.inverse_kinematics("cart", pose).q.round(9)
        array([0.7])
        """
        position_only = checked_flag("position_only", position_only)
        tolerance = positive_number("tolerance", tolerance)
        starts = checked_count("starts", starts, 1)
        wanted = checked_pose(pose, position_only)
        search = _Search(self, link, wanted, single_vector("point", point, "xyz"), position_only)
        q = self.home_position
        if start is not None:
            q = single_vector("start", start, self.position_labels)
        nearest, draws = None, np.random.default_rng(0)
        for count in range(1, starts + 1):
            if count > 1:
                q = np.concatenate([q[: 7 * self.floating_base],
                                    self.random(draws)[7 * self.floating_base :]])  # fmt: skip
            found = search.run(q, tolerance)
            if found is not None and (nearest is None or found[1] < nearest[1]):
                nearest = found
            if nearest is not None and nearest[1] == 0.0:
                break
        where = ", ".join(f"{number:.4g}" for number in wanted[:3, 3].tolist())
        text = f"{self.model.source}: link {link!r} cannot be brought to ({where})"
        if nearest is None:
            raise InputError(f"{text}: no start for the search was found within the limits")
        gap = search.gap(nearest[0])
        assert gap is not None
        apart, turned = float(np.linalg.norm(gap[:3])), float(np.linalg.norm(gap[3:]))
        return Reached(nearest[0], apart, turned, max(apart, turned) <= tolerance, count, text)


class _Search:
    """Searches for one pose of a link."""

    def __init__(
        self, robot: Configurations, link: str, wanted: Array, point: Array, position_only: bool
    ) -> None:
        frame = require_frame(robot.system.tree, link, "world", robot.model.source)
        self._robot, self._wanted = robot, wanted
        self._pose = robot.calls.short(frames.frame_pose, link)
        self._rates = robot.calls.short(frames.jacobian, frame)
        self._point, self._rows = point, 3 if position_only else 6
        self._bounds = JointBounds(robot)
        self._fixed = 6 * robot.floating_base

    def gap(self, q: Array) -> Array | None:
        """The way to the wanted pose in world axes: m, and if it counts the rotation vector, rad.

        None where loops cannot be closed.
        """
        self._pose.q[:] = q
        self._pose()
        present = self._pose.result
        if not np.isfinite(present).all():
            return None
        apart: Array = self._wanted[:3, 3] - present[:3, 3] - present[:3, :3] @ self._point
        if self._rows == 3:
            return apart
        return np.concatenate([apart, rotation_vector(self._wanted[:3, :3] @ present[:3, :3].T)])

    def run(self, q: Array, tolerance: float) -> tuple[Array, float] | None:
        """The nearest positions that steps from q lead to, and the gap there, 0 where it is closed.

        The gap counts rotations by the size of the robot (m). None where loops are open at q, or
        limits cannot be kept.
        """
        robot, bounds = self._robot, self._bounds
        q = bounds.nearest(q)
        gap = self.gap(q)
        if gap is None:
            return None
        size = self._size(q)
        weights = np.array([1.0, 1.0, 1.0, size, size, size])[: self._rows]
        damping, best, since = 1e-3, np.inf, 0
        units = np.where(bounds.slides, size, 1.0)
        for _ in range(MOST_NEWTON_STEPS):
            error = float(np.linalg.norm(weights * gap))
            if np.linalg.norm(gap[:3]) <= tolerance and np.linalg.norm(gap[3:]) <= tolerance:
                if bounds.kept(q):
                    return q, 0.0
            since = 0 if error < (1 - STALLED) * best else since + 1
            best = min(best, error)
            if since > 10:
                break
            jacobian = weights[:, None] * self._jacobian(q) * units
            rows, room = bounds.room(q)
            step = units * least_step(jacobian, weights * gap, damping, rows * units, room)
            step *= min(1.0, LONGEST_MOVE / max(float(np.abs(step / units).max(initial=0)), 1e-300))
            tried = bounds.clipped(robot.integrate(q, step))
            left = self.gap(tried)
            if left is not None and np.linalg.norm(weights * left) < error:
                q, gap, damping = tried, left, max(damping / 8, LEAST_DAMPING)
            else:
                damping *= 6
                if damping > MOST_DAMPING:
                    break
        if not bounds.kept(q):
            return None
        done = np.linalg.norm(gap[:3]) <= tolerance and np.linalg.norm(gap[3:]) <= tolerance
        return q, 0.0 if done else float(np.linalg.norm(weights * gap))

    def _jacobian(self, q: Array) -> Array:
        """That of the point (3 or 6, nv); columns of a floating base are zeros."""
        whole = self._jacobian_of_link(q)
        self._pose.q[:] = q
        self._pose()
        turned = self._pose.result[:3, :3] @ self._point
        whole[:3] -= np.cross(turned, whole[3:], axis=0)
        return whole[: self._rows]

    def _jacobian_of_link(self, q: Array) -> Array:
        """That of the link's origin (6, nv)."""
        self._rates.q[:] = q
        self._rates()
        whole = self._rates.result.copy()
        whole[:, : self._fixed] = 0.0
        return whole

    def _size(self, q: Array) -> float:
        """How far from the joints' axes the point is (m): what a turn of one is worth."""
        jacobian = self._jacobian_of_link(q)
        turns = np.linalg.norm(jacobian[3:], axis=0)
        arms = np.linalg.norm(jacobian[:3], axis=0)[turns > 1e-9] / turns[turns > 1e-9]
        return float(max(arms.max(initial=0.0), 1e-9)) if len(arms) else 1.0


def least_step(jacobian: Array, gap: Array, damping: float, rows: Array, room: Array) -> Array:
    """The step x (n,) that makes |J x - gap|^2 + damping |J|^2 |x|^2 least under rows x >= -room.

    Without inequalities x = x0. Else y = L^T (x - x0), with L L^T the matrix of the normal
    equations, is the least y that keeps them: a least distance problem, whose dual is one of
    nonnegative least squares.
    """
    square: Array = jacobian.T @ jacobian
    normal: Array = square + damping * max(float(np.trace(square)), 1e-30) * np.eye(len(square))
    lower = np.linalg.cholesky(normal)
    free = np.asarray(np.linalg.solve(normal, jacobian.T @ gap), dtype=np.float64)
    missing = -room - rows @ free
    if not (missing > 0).any():
        return free
    from scipy.optimize import nnls  # few steps need it

    within = np.linalg.solve(lower, rows.T)  # (n, m): the inequalities in y
    stacked = np.vstack([within, missing])
    target = np.zeros(len(stacked))
    target[-1] = 1.0
    try:
        multipliers, distance = nnls(stacked, target)
    except RuntimeError:  # no end: a step without any move keeps the limits too
        return np.zeros_like(free)
    left = stacked @ multipliers - target
    if distance < 1e-12 or left[-1] == 0:  # no step keeps them all
        return np.zeros_like(free)
    return free + np.linalg.solve(lower.T, -left[:-1] / left[-1])


def rotation_vector(turn: Array) -> Array:
    """Axis times angle (3,) of a rotation matrix, rad."""
    axis: Array = 0.5 * np.array(
        [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    )
    sine, cosine = float(np.linalg.norm(axis)), 0.5 * (float(np.trace(turn)) - 1)
    angle = math.atan2(sine, cosine)
    if sine < 1e-9 and cosine < 0:  # half a turn: about the axis that the matrix keeps
        kept: Array = np.linalg.svd(turn - np.eye(3))[2][2]
        return kept * angle
    return axis * (angle / sine if sine > 0 else 1.0)


def checked_pose(pose: object, position_only: bool) -> Array:
    """A finite homogeneous matrix; anything else is refused."""
    try:
        matrix = as_numbers(pose)
    except NoNumbers:
        raise InputError(f"the pose must be a matrix (4, 4), not {shown(pose)}") from None
    if position_only and matrix.shape == (3,):
        matrix = np.block([[np.eye(3), matrix[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        raise InputError(f"the pose must be a finite matrix (4, 4); it is {matrix.tolist()}")
    rotation = matrix[:3, :3]
    if np.abs(rotation @ rotation.T - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation) < 0:
        raise InputError(f"the rotation of the pose is not a rotation matrix: {rotation.tolist()}")
    return matrix


class JointBounds:
    """Limits of the independent joints, and of the dependent ones that have some.

    Parameters
    ----------
    robot : the robot.

    Attributes
    ----------
    slides : (nv,) whether a coordinate of v slides.
    """

    def __init__(self, robot: Configurations) -> None:
        self._robot = robot
        self._low, self._high = robot.position_limits
        coordinates = robot.system.coordinates
        self._columns: list[tuple[int, int]] = []  # of q and v, of coordinates that may have limits
        self.slides = np.zeros(robot.nv, dtype=bool)
        for motion, q, v in coordinates.motions:
            if motion.nq == motion.nv:
                self._columns += zip(range(q.start, q.stop), range(v.start, v.stop), strict=True)
            if motion.nv == 1:
                self.slides[v] = motion.slides
        dependent = [coordinates.joint_blocks[name] for name in coordinates.dependent]
        limited = [block for block in dependent if _is_limited(robot, block)]
        rows_q, rows_v = coordinates.joint_rows
        self._rows_q = [rows_q[block.q.start] for block in limited]
        self._rows_v = [rows_v[block.v.start] for block in limited]
        limits = [robot.model.joint(block.joint).limits for block in limited]
        self._lowest = np.array([one.lower for one in limits])
        self._highest = np.array([one.upper for one in limits])
        if limited:
            self._closed = Bound(robot.calls.kernel(programs.joint_position))
            self._rates = Bound(robot.calls.kernel(joint_rates))

    def clipped(self, q: Array) -> Array:
        """Positions within the limits of the independent joints."""
        return np.clip(q, self._low, self._high)

    def nearest(self, q: Array) -> Array:
        """A start near q within all limits, or on the way to home where there is none."""
        q = self.clipped(q)
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            between = self._robot.interpolate(q, self._robot.home_position, share)
            tried = self.clipped(between) if share else q
            if self.kept(tried):
                return tried
        return q

    def kept(self, q: Array) -> bool:
        """Whether the dependent joints are within their limits; False where loops are open."""
        if not self._rows_q:
            return True
        position = self._dependent(q)
        return bool(
            (position >= self._lowest - LEEWAY_OF_BOUNDS).all()
            and (position <= self._highest + LEEWAY_OF_BOUNDS).all()
        )

    def room(self, q: Array) -> tuple[Array, Array]:
        """Rows (m, nv) and room (m,): a step x keeps near limits where rows x >= -room."""
        rows, room = [], []
        unit = np.eye(self._robot.nv)
        for place, column in self._columns:
            for sign, left in ((1.0, q[place] - self._low[place]),
                               (-1.0, self._high[place] - q[place])):  # fmt: skip
                if left < ROOM:
                    rows.append(sign * unit[column])
                    room.append(max(left, 0.0))
        if self._rows_q:
            self._rates.q[:] = q
            self._rates()
            rates = self._rates.result[self._rows_v]
            position = self._dependent(q)
            for row, low, high in zip(
                rates, position - self._lowest, self._highest - position, strict=True
            ):
                rows += [row, -row]
                room += [low, high]
        if not rows:
            return np.zeros((0, self._robot.nv)), np.zeros(0)
        return np.array(rows), np.array(room)

    def _dependent(self, q: Array) -> Array:
        self._closed.q[:] = q
        self._closed()
        found: Array = self._closed.result[self._rows_q]
        return found


def _is_limited(robot: Configurations, block: JointBlock) -> bool:
    """Whether a joint of one coordinate has position limits."""
    if block.kind.nq != 1 or block.kind.is_endless:
        return False
    limits = robot.model.joint(block.joint).limits
    return bool(np.isfinite([limits.lower, limits.upper]).any())
