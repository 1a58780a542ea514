"""Joints that determine all others of a robot: those that sensors measure, or planners move."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence

import numpy as np

from ..arguments import JointState, checked_names
from ..array import Array
from ..equations.actuation import joint_rates, rate_units
from ..errors import InputError, ModelError, unknown
from ..robot import Robot, checked_robot

LEAST_RATE = 1e-6
"""Share of a motion under which joints do not show it, lengths relative to that of the loops."""

PREFERENCE = 0.7
"""Part of the best choice's worst share in the motion at which the robot's own choice serves."""

POSITIONS_COMPARED = 16
"""Random positions at which choices of independent joints are compared."""

CHARTS_KEPT = 4
"""Charts that are kept of a robot, the latest: to build one takes longer than a trajectory."""

_CHARTS: weakref.WeakKeyDictionary[Robot, dict[tuple[str, ...], Robot]]
_CHARTS = weakref.WeakKeyDictionary()


class JointSpace:
    """Joints whose positions determine those of all joints, loops closed exactly.

    As many of them as the robot has freedoms become the independent coordinates of a copy of the
    robot, `chart`, so that nothing is lost where others of its joints stand still; the rest is
    redundant. A base that floats is left out: joints do not say where it is.

    Parameters
    ----------
    robot : the robot.
    joints : names of joints, independent or not; of each all coordinates count.

    Attributes
    ----------
    joints : as they were given. labels : of their coordinates (k,), in that order.
    chart : the robot in coordinates of its own that stand among `labels`.
    base, redundant : where in `labels` the coordinates of the chart are, in its order, and the
        others. rows : where `labels` are in the positions of all joints, as `joint_state` has them.

    Raises
    ------
    InputError
        A joint that is not there, twice, or turns by a quaternion; or the joints leave a freedom
        open, by name.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> JointSpace(mbdyn_ros.load(CART), ["rail"]).labels
    ('rail',)
    """

    def __init__(self, robot: Robot, joints: Sequence[str]) -> None:
        self.robot, self.joints = checked_robot(robot), checked_names("joints", joints)
        blocks = robot.system.coordinates.joint_blocks
        self.labels: tuple[str, ...] = ()
        self.rows: list[int] = []
        for k, name in enumerate(self.joints):
            _require_joint(robot, name, self.joints[:k])
            self.labels += tuple(blocks[name].labels()[0])
            self.rows += range(blocks[name].q.start, blocks[name].q.stop)
        chosen = self._choice()
        self.chart = self._chart(chosen)
        first = 7 * robot.floating_base
        own = self.chart.position_labels[first:]
        self.base = [self.labels.index(label) for label in own]
        self.redundant = [k for k in range(len(self.labels)) if k not in self.base]
        tree_rows = robot.system.coordinates.joint_rows[1]
        rate_rows = robot.system.coordinates.joint_rate_labels
        self.rate_rows = [tree_rows[rate_rows.index(label)] for label in self.labels]

    def q(self, position: Array) -> Array:
        """The chart's q (nq,) or (N, nq) at positions (k,) or (N, k) of the joints."""
        q = np.empty((*position.shape[:-1], self.chart.nq))
        first = 7 * self.robot.floating_base
        q[..., :first] = self.chart.home_position[:first]
        q[..., first:] = position[..., self.base]
        return q

    def v(self, velocity: Array) -> Array:
        """The chart's v (nv,) or (N, nv) at velocities (k,) or (N, k) of the joints."""
        v = np.zeros((*velocity.shape[:-1], self.chart.nv))
        v[..., 6 * self.robot.floating_base :] = velocity[..., self.base]
        return v

    def rates(self, q: Array) -> Array:
        """Velocities (..., k, n) of the joints at unit velocities of the chart's joints."""
        rates = self.chart.calls.call(joint_rates, (q,))
        return rates[..., self.rate_rows, 6 * self.robot.floating_base :]

    def state(self, q: Array, v: Array | None = None, a: Array | None = None) -> JointState:
        """Positions, velocities and accelerations of all joints in the chart's coordinates."""
        return self.chart.joint_state(q, v, a)

    def _choice(self) -> tuple[str, ...]:
        """The joints that become independent."""
        robot, own = self.robot, self.robot.independent_joints
        if set(own) == set(self.joints):
            return own
        at_home = motion_basis(robot, robot.home_position)
        rows = _rows(robot, self.joints)
        require_determined(robot, at_home, self.joints)
        places = {name: slice(k, k + n) for name, k, n in rows}
        if sum(n for _, _, n in rows) == at_home.shape[1]:
            return tuple(name for name in robot.joint_names if name in self.joints)
        with np.errstate(all="ignore"):
            drawn = robot.random(0, POSITIONS_COMPARED)
        samples = [at_home, *(one for one in motion_basis(robot, drawn) if np.isfinite(one).all())]
        tree = robot.system.coordinates.joint_rows[1]
        blocks = robot.system.coordinates.joint_blocks
        mine = [tree[k] for name in places for k in _range(blocks[name].v)]
        samples = [one[mine] for one in samples]
        choices = {frozenset(_pivots(one, rows)) for one in samples}
        choices |= {frozenset(own)} if set(own) <= set(places) else set()

        def worst(choice: frozenset[str]) -> float:
            chosen = [k for name in choice for k in _range(places[name])]
            if len(chosen) != at_home.shape[1]:
                return -1.0
            return min(float(np.linalg.svd(one[chosen])[1][-1]) for one in samples)

        best = max(sorted(choices, key=sorted), key=worst)
        if frozenset(own) in choices and worst(frozenset(own)) > PREFERENCE * worst(best):
            return own
        return tuple(name for name in robot.joint_names if name in best)

    def _chart(self, chosen: tuple[str, ...]) -> Robot:
        if chosen == self.robot.independent_joints:
            return self.robot
        kept = _CHARTS.setdefault(self.robot, {})
        chart = kept.get(chosen)
        if chart is not None:
            return chart
        try:
            chart = self.robot.with_independent(chosen, self.robot.home)
        except ModelError as error:
            raise InputError(
                f"{self.robot.model.source}: {', '.join(chosen)} cannot determine where all joints "
                f"are: {error}"
            ) from None
        _CHARTS[self.robot] = dict([*kept.items(), (chosen, chart)][-CHARTS_KEPT:])
        return chart


def motion_basis(robot: Robot, q: Array) -> Array:
    """Orthonormal velocities (..., nv_tree, n) of all joints, free of units: all motions there are.

    Without those of a floating base; NaN where loops cannot be closed.
    """
    rates = robot.calls.call(joint_rates, (q,))
    units = rate_units(robot.system)
    own = units[list(robot.system.coordinates.v)]
    scaled = (rates * own / units[:, None])[..., 6 * robot.floating_base :]
    finite = np.isfinite(scaled).all(axis=(-2, -1), keepdims=True)
    basis: Array = np.linalg.qr(np.where(finite, scaled, 0.0))[0]
    return np.where(finite, basis, np.nan)


def require_determined(robot: Robot, motions: Array, joints: Sequence[str]) -> None:
    """Refuse joints that leave a freedom open: its name, and a joint that would determine it.

    motions : (nv_tree, n) of `motion_basis`, at home.
    """
    tree, blocks = robot.system.coordinates.joint_rows[1], robot.system.coordinates.joint_blocks

    def rows(names: Sequence[str]) -> list[int]:
        return [tree[k] for name in names for k in _range(blocks[name].v)]

    left = _open_motions(motions[rows(joints)])
    if not left.shape[1]:
        return
    others = [name for name in robot.joint_names if name not in joints]
    helpful: list[str] = []
    open_, count = left, left.shape[1]
    while open_.shape[1] and others:
        moved = [float(np.linalg.norm(motions[rows([name])] @ open_)) for name in others]
        preferred = [one + 1e-9 * (name in robot.independent_joints) for one, name in
                     zip(moved, others, strict=True)]  # fmt: skip
        helpful.append(others.pop(int(np.argmax(preferred))))
        open_ = _open_motions(motions[rows([*joints, *helpful])])
    motion = np.linalg.norm(motions @ left, axis=1)
    moving = [
        name for name in robot.joint_names
        if motion[rows([name])].max() > 1e-3 * motion.max(initial=0.0)
    ]  # fmt: skip
    freedoms = "1 freedom" if count == 1 else f"{count} freedoms"
    names = ", ".join(joints) or "no joints"
    raise InputError(
        f"{robot.model.source}: {names} leave {freedoms} of the robot open, in which "
        f"{', '.join(moving)} {'moves' if len(moving) == 1 else 'move'} at home. Add "
        f"{' and '.join(helpful)}; or, if these joints are only at rest at home (a dead point), "
        "also give a home"
    )


def _open_motions(rows: Array) -> Array:
    """An orthonormal basis (n, m) of the motions that rows (k, n) do not show."""
    _, values, right = np.linalg.svd(rows)
    rank = int((values > LEAST_RATE * max(1.0, values.max(initial=0.0))).sum())
    basis: Array = right[rank:].T
    return basis


def _pivots(rows: Array, joints: Sequence[tuple[str, int, int]]) -> Iterator[str]:
    """Joints that show the motions best, one after the other: each time the most of what is left.

    rows : (k, n); joints : name, first row and number of rows of each.
    """
    left, waiting = rows.copy(), list(joints)
    while waiting and np.abs(left).max(initial=0.0) > LEAST_RATE:
        shares = [np.linalg.svd(left[k : k + n])[1].min() for _, k, n in waiting]
        name, k, n = waiting.pop(int(np.argmax(shares)))
        span = np.linalg.svd(left[k : k + n])[2][:n]
        left = left - left @ span.T @ span
        yield name


def _rows(robot: Robot, joints: Sequence[str]) -> list[tuple[str, int, int]]:
    """Of each joint its name, and where its coordinates begin among theirs, and how many."""
    found, start = [], 0
    for name in joints:
        size = robot.model.joint(name).nv
        found.append((name, start, size))
        start += size
    return found


def _range(place: slice) -> range:
    return range(place.start, place.stop)


def _require_joint(robot: Robot, name: str, before: Sequence[str]) -> None:
    """Refuse an unknown name, one given twice, or a joint whose rates are not velocities."""
    if name not in robot.joint_names:
        raise InputError(f"{robot.model.source}: {unknown('joint', name, robot.joint_names)}")
    if name in before:
        raise InputError(f"{robot.model.source}: joint {name!r} is named twice")
    joint = robot.model.joint(name)
    if joint.nq != joint.nv:
        raise InputError(
            f"{robot.model.source}: joint {name!r} ({joint.type}) turns by a quaternion, which "
            "no message of joint states carries"
        )
