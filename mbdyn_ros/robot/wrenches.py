"""Forces and moments in the joints, and at the motors behind their transmissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ..arguments import Wrenches as Outside
from ..arguments import checked_mapping, coordinate_array
from ..array import Array, ArrayLike, NoNumbers, as_numbers
from ..equations import programs
from ..equations.joint_forces import LOADS, joint_loads, loop_terms, self_stresses
from ..equations.joint_forces import loop_forces as forces_of
from ..errors import InputError, brief, shown
from ..model.actuators import Transmission
from ..model.model import Pose
from ..prepare.tree import WORLD
from .core import Core

UNDETERMINED = 1e-9
"""Share of the largest component from which a self-stress counts as being in a joint."""
COMPONENTS = ("fx", "fy", "fz", "tx", "ty", "tz")
Wrenches = dict[str, Array]
"""Joint or loop -> [force, moment] (..., 6)."""


class JointWrenches(Core):
    """Forces and moments in joints and loops, and efforts of motors."""

    @brief
    def loop_forces(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Outside | None = None
    ) -> Wrenches:
        """Force and moment in every closing joint, of the predecessor on the successor.

        wrenches : from outside on links, as in `inverse_dynamics`.

        Returns
        -------
        {loop name: [force, moment] (6,)}, N and N m, about the origin of the predecessor's loop
        frame in its axes. Where constraints are redundant the answer of least norm is taken:
        a planar loop carries nothing across its plane. Batches give (N, 6).
        """
        if not self.model.loops:
            self.calls.call(programs.joint_acceleration, (q, v, a))  # refuses what is not a motion
            return {}
        forces = forces_of(self.system, self.calls.call(loop_terms, (q, v, a), wrenches))
        return {loop.name: forces[loop.name] for loop in self.model.loops}

    @brief
    def joint_wrenches(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        stiffness: Mapping[str, Sequence[float]] | None = None,
        wrenches: Outside | None = None,
    ) -> Wrenches:
        """Force and moment in every joint that moves, of the tree and of the loops.

        In a joint of the tree it is what the parent exerts on the child, all in all: bearing, motor
        and friction. Equations 13-18, 37 and 65 of the parallel-serial paper.

        Parameters
        ----------
        q, v, a : positions, velocities and accelerations (n,), or many (N, n).
        stiffness : {joint or loop: (6,)} along and about the axes below, N/m and N m/rad. What the
            motion does not determine (see `undetermined_wrenches`) is shared so that the elastic
            energy of these joints is least (Menabrea); others are rigid. Without it the closing
            joints carry the least. For single states.
        wrenches : from outside on links, as in `inverse_dynamics`; the joints carry them too.

        Returns
        -------
        {joint or loop: [force, moment] (6,)}, N and N m, about the origin of the child link's frame
        in its axes; in a closing joint as `loop_forces`. Batches give (N, 6).

        Raises
        ------
        InputError
            Not a motion; a stiffness of an unknown joint, of other than six positive numbers, or
            for many states.

        Examples
        --------
        >>> import numpy as np
        >>> from mbdyn_ros import load
        >>> from mbdyn_ros.model.examples import PENDULUM
        >>> wrenches = load(PENDULUM).joint_wrenches([0.0], [0.0], [0.0])
        """
        terms, closing = _terms(self, q, v, a, wrenches)
        found = _wrenches(self, terms, forces_of(self.system, closing))
        if stiffness is None:
            return found
        if np.ndim(terms) > 1:
            raise InputError("stiffness: wrenches are shared in single states; give (n,)")
        weights = _compliances(found, stiffness)
        stresses = _stresses(self, terms, closing)
        if not stresses:
            return found
        columns = np.array([[weights[name] * one[name] for name in found] for one in stresses])
        given = np.array([weights[name] * found[name] for name in found])
        matrix = columns.reshape(len(stresses), -1).T
        shares = np.linalg.lstsq(matrix, -given.ravel(), rcond=None)[0]
        for share, stress in zip(shares, stresses, strict=True):
            found = {name: one + share * stress[name] for name, one in found.items()}
        return found

    @brief
    def undetermined_wrenches(self, q: ArrayLike) -> dict[str, tuple[str, ...]]:
        """The components of `joint_wrenches` that redundant constraints leave undetermined.

        q : (n,), or many (N, n).

        Returns
        -------
        {joint or loop: names of components among fx, fy, fz, tx, ty, tz}, of all that are at any of
        the positions; empty without redundancy.
        """
        self.require_single("the set of undetermined wrenches")
        positions = np.atleast_2d(coordinate_array("q", q, self.position_labels))
        rest = np.zeros(self.nv)
        found: dict[str, Array] = {}
        for position in positions:
            stresses = _stresses(self, *_terms(self, position, rest, rest))
            size = {
                name: np.max([np.abs(one[name]) for one in stresses], axis=0)
                for name in (stresses[0] if stresses else ())
            }
            largest = max((float(one.max()) for one in size.values()), default=0.0)
            for name, one in size.items():
                found[name] = found.get(name, False) | (one > UNDETERMINED * largest)
        return {
            name: tuple(np.array(COMPONENTS)[one].tolist())
            for name, one in found.items()
            if one.any()
        }

    @property
    def motor_labels(self) -> tuple[str, ...]:
        """A name for each number of `motor_effort`, of motors and of joints without one."""
        return _motors(self)[0]

    def motor_effort(self, effort: ArrayLike) -> Array:
        """Efforts of the motors that produce those of the actuated joints.

        Parameters
        ----------
        effort : (n,) or (N, n), N m or N, of `effort_labels`, as `inverse_dynamics` gives them.

        Returns
        -------
        (m,) or (N, m) of `motor_labels`: by the work that both do, with reductions and signs, of
        differentials and four-bar linkages too. What their rotors take is part of it, where the
        description has their inertia (`armature`). Where several transmissions drive a joint, the
        efforts of least norm; a joint without one has a motor of its own, with reduction 1.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART.replace("</robot>", '''<transmission name="belt">
        ...   <joint name="rail"/><actuator name="motor">
        ...   <mechanicalReduction>-50</mechanicalReduction></actuator></transmission></robot>'''))
        >>> robot.motor_labels, robot.motor_effort([100.0])
        (('motor',), array([-2.]))
        """
        given = coordinate_array("effort", effort, self.effort_labels)
        result: Array = given @ _motors(self)[1].T
        return result


def _terms(
    robot: Core, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Outside | None = None
) -> tuple[Array, Array]:
    """Results of `joint_loads` and `loop_terms`, the latter empty without loops."""
    loads = robot.calls.call(joint_loads, (q, v, a), wrenches)
    if not robot.model.loops:
        return loads, np.zeros(0)
    return loads, robot.calls.call(loop_terms, (q, v, a), wrenches)


def _stresses(robot: Core, terms: Array, closing: Array) -> list[Wrenches]:
    """Self-stresses of one state, as wrenches in all joints; see `_terms`."""
    still = terms.copy()
    still.reshape(-1, LOADS)[:, 12:] = 0.0
    none = {loop.name: np.zeros(6) for loop in robot.model.loops}
    return [
        _wrenches(robot, still, {**none, **one}) for one in self_stresses(robot.system, closing)
    ]


def _wrenches(robot: Core, terms: Array, loops: Wrenches) -> Wrenches:
    """Wrenches in all joints: those of open loops, less what the loops bear.

    Everything is moved to the world's origin and axes, where it is summed along the tree.
    """
    tree = robot.system.tree
    bodies = terms.reshape(*terms.shape[:-1], len(tree.bodies), LOADS)
    turns = bodies[..., :9].reshape(*bodies.shape[:-1], 3, 3)
    origins = bodies[..., 9:12]

    def placed(link: str, pose: Pose) -> tuple[Array, Array]:
        """The pose of a frame of a link in the world."""
        body, frame = tree.frames[link]
        place = frame.rotation @ pose.translation + frame.translation
        turn = frame.rotation @ pose.rotation
        if body == WORLD:
            return turn, place
        return turns[..., body, :, :] @ turn, origins[..., body, :] + _turned(
            turns[..., body, :, :], place
        )

    total = [
        _moved(bodies[..., i, 12:], turns[..., i, :, :], origins[..., i, :])
        for i in range(len(tree.bodies))
    ]
    for loop in robot.model.loops:
        wrench = _moved(loops[loop.name], *placed(loop.predecessor, loop.predecessor_frame))
        for link, sign in ((loop.successor, -1.0), (loop.predecessor, 1.0)):
            body = tree.frames[link][0]
            while body != WORLD:
                total[body] = total[body] + sign * wrench
                body = tree.bodies[body].parent
    result = {}
    for joint in robot.model.joints:
        body = tree.frames[joint.child][0]
        if joint.nv and body != WORLD:
            turn, place = placed(joint.child, Pose())
            result[joint.name] = _seen(total[body], turn, place)
    return result | {loop.name: loops[loop.name] for loop in robot.model.loops}


def _turned(turn: Array, vector: Array) -> Array:
    return (turn @ vector[..., None])[..., 0]


def _moved(wrench: Array, turn: Array, place: Array) -> Array:
    """A wrench (..., 6) of a frame at the world's origin, in its axes."""
    force, moment = _turned(turn, wrench[..., :3]), _turned(turn, wrench[..., 3:])
    return np.concatenate([force, moment + np.cross(place, force)], axis=-1)


def _seen(wrench: Array, turn: Array, place: Array) -> Array:
    """A wrench (..., 6) of the world at the origin of a frame, in its axes."""
    back = np.swapaxes(turn, -2, -1)
    moment = wrench[..., 3:] - np.cross(place, wrench[..., :3])
    return np.concatenate([_turned(back, wrench[..., :3]), _turned(back, moment)], axis=-1)


def _compliances(found: Wrenches, stiffness: Mapping[str, Sequence[float]]) -> Wrenches:
    """Square roots of what each component yields; 0 where a joint is rigid."""
    weights = {name: np.zeros(6) for name in found}
    for name, numbers in checked_mapping("stiffness", stiffness).items():
        if name not in found:
            raise InputError(f"stiffness: there is no joint {name!r}; there are {', '.join(found)}")
        try:
            given = as_numbers(numbers)
        except NoNumbers:
            given = np.zeros(0)
        if given.shape != (6,) or not (given > 0).all():
            raise InputError(
                f"stiffness of {name} is {shown(numbers)}; give six positive numbers, N/m and "
                "N m/rad"
            )
        weights[name] = 1 / np.sqrt(given)
    return weights


def _motors(robot: Core) -> tuple[tuple[str, ...], Array]:
    """Names of the motors, and their efforts (m, n) by unit efforts of the joints."""
    order = {label: k for k, label in enumerate(robot.effort_labels)}
    driving = [one for one in robot.model.transmissions if set(one.joints) & set(order)]
    geared = {joint for one in driving for joint in one.joints}
    own = [label for label in order if label not in geared]
    named = [(one, motor) for one in driving for motor in one.motors]
    counts = Counter([*(motor for _, motor in named), *own])
    places = {(id(one), motor): k for k, (one, motor) in enumerate(named)}
    labels = [motor if counts[motor] == 1 else f"{one.name}/{motor}" for one, motor in named]
    efforts = np.zeros((len(named) + len(own), len(order)))
    for group in _groups(driving):
        joints = list(dict.fromkeys(joint for one in group for joint in one.joints))
        rates = np.zeros((sum(len(one.motors) for one in group), len(joints)))
        rows, first = [], 0
        for one in group:
            columns = [joints.index(name) for name in one.joints]
            rates[first : first + len(one.motors), columns] = one.rates
            rows += [places[id(one), motor] for motor in one.motors]
            first += len(one.motors)
        regular = rates.shape[0] == rates.shape[1]
        inverse = np.linalg.inv(rates.T) if regular else np.linalg.pinv(rates.T)
        for k, joint in enumerate(joints):
            if joint in order:  # passive joints have no effort
                efforts[rows, order[joint]] = inverse[:, k]
    for k, label in enumerate(own, len(named)):
        efforts[k, order[label]] = 1.0
    return (*labels, *own), efforts


def _groups(transmissions: list[Transmission]) -> list[list[Transmission]]:
    """Transmissions that share joints, together."""
    groups: list[tuple[set[str], list[Transmission]]] = []
    for one in transmissions:
        joints, members = set(one.joints), [one]
        apart = []
        for others, group in groups:
            if others & joints:
                joints, members = joints | others, [*group, *members]
            else:
                apart.append((others, group))
        groups = [*apart, (joints, members)]
    return [members for _, members in groups]
