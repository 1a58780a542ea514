"""Fixed-step integration of a robot's motion: what a simulator runs at a given rate.

Methods are those of `integration.methods`; efforts are constant over a step. Two matter most:

- "rk4", the classical Runge-Kutta method (order 4).
- "semi_implicit", the velocity first, with damping taken at the end of the step, then the
  position with that velocity (order 1). It is stable however strong the damping is: gripper
  joints of some robots have a damping that stops them in microseconds, where rk4 explodes.

"auto" is rk4 unless damping is too stiff for it. Dry friction is handled by impulses (see
`friction_impulse`): joints stick exactly, at zero velocity, and rk4 keeps its order while they
slide. The orientation of a floating base is a unit quaternion after every step.

Closed loops stay closed, for the state is that of the independent joints. Where those come to a
dead centre, `charted_step` goes on in others.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from ...arguments import Wrenches, positive_seconds
from ...compiler.bound import Bound
from ...equations.position_rate import PositionRate
from ...equations.programs import holding_vector
from ...integration.methods import SEMI_IMPLICIT
from ...integration.stepper import Stepper
from ...model.model import Array
from ...robot import Robot
from ..force_torque import NO_WRENCHES, ForceTorques
from ..friction.coulomb import Coulomb, fastest_damping
from ..friction.drive import Drive
from ..friction.friction_impulse import friction_impulses
from .step_method import AUTO, StepMethod
from .tree_state import TreeState, diverged

STICKING_NOISE = 1e-9
"""Share of the velocities in a step that may be rounding error where joints stick."""


class FixedStep:
    """The motion of a robot, advanced in equal steps.

    Attributes
    ----------
    q, v : (nq,), (nv,) the state. Change it with `set_state`.
    effort : efforts of the actuated joints in the next step, to be filled in place (N m or N).
    step : length of a step, s; it may be changed between steps.
    time : simulated seconds.

    Raises
    ------
    SingularMassMatrixError
        A link without mass leaves the motion undetermined; the message names it.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> robot = mbdyn_ros.load(CART)
    >>> motion = FixedStep(robot, step=0.5)
    >>> motion.effort[:] = 4.0
    >>> motion.advance()
    >>> motion.q, motion.v
    (array([0.25]), array([1.]))
    """

    def __init__(self, robot: Robot, step: float, method: str = AUTO) -> None:
        robot.require_mass("simulation")
        robot.require_single("simulation")
        robot.say_choice()
        self._choice = StepMethod(method)
        self._walks = bool(robot.system.nz)
        if self._walks:  # home moves along, so that loops stay on their branch
            robot = robot.with_home(robot.system.home)
        self.robot = robot
        self.time = 0.0
        undamped = self._choice.at(0.0, 0.0)  # until the damping at the start is known
        self._stepper = Stepper(undamped, neutral_position(robot), np.zeros(robot.nv))
        self.q, self.v = self._stepper.q, self._stepper.v
        self.effort = np.zeros(len(robot.effort_labels))
        self._drive = Drive(robot)
        self._coulomb = Coulomb(robot) if robot.calls.traced.has_friction else None
        rubbing = 0 if self._coulomb is None else len(self._coulomb.labels)
        self._rough = rubbing > 0
        self._dynamics = robot.bind("forward_dynamics", friction=not self._rough)
        self._mass = robot.bind("mass_matrix")
        self._position_rate = PositionRate(robot.system.coordinates)
        self._tree = TreeState(robot)
        self._mass.q[:] = self.q
        self._mass()
        self._damping_rate = fastest_damping(self._mass.result, self._damping_at(self.q))
        self.step = step
        self._places = plain_coordinates(robot)
        self._dry, self._slides, self._impulse = np.zeros((3, rubbing))
        self._rubbed: Array = np.zeros(rubbing)
        self._slow, self._sensors = self.v.copy(), ForceTorques(robot)

    @property
    def step(self) -> float:
        """Length of a step, s."""
        return self._step

    @step.setter
    def step(self, step: float) -> None:
        self._step = step = positive_seconds("the step", step)
        method = self._choice.at(step, self._damping_rate)
        if method is not self._stepper.method:
            self._stepper.method = method
        self._damps_at_end = method is SEMI_IMPLICIT

    @property
    def method(self) -> str:
        """Name of what takes the steps now; see `integration.methods`."""
        return self._stepper.method.name

    def set_state(self, q: Array, v: Array) -> None:
        """Put the robot somewhere else."""
        self.q[:], self.v[:] = q, v
        self._position_rate.normalize(self.q)
        self._impulse[:] = 0.0
        self._slow[:] = self.v
        if self._walks:
            self.robot.calls.home[:] = self.robot.system.closing.home
            self._tree.take_home_along(self.q)

    def tree_state(self) -> tuple[Array, Array]:
        """Positions and velocities of the whole tree; the next call overwrites them."""
        return self._tree.at(self.q, self.v)

    def advance(self) -> None:
        """Take one step.

        Raises
        ------
        SimulationError
            The state is no longer finite; the message names the joint and the time.
        """
        self._slow[:] = self.v
        coulomb = self._coulomb if self._rough else None
        if coulomb is not None:
            coulomb.at(self.q)
            self._slides[:] = coulomb.directions(self.v)
            self._dry[:] = coulomb.limit
            start = self.q.copy()
        accelerate = self._accelerate_damped if self._damps_at_end else self._accelerate
        self._stepper.advance(self._step, self._position_rate, accelerate)
        if coulomb is not None:
            self._stick(coulomb, start)
        self._position_rate.normalize(self.q)
        self.time += self._step
        if not math.isfinite(self.v.dot(self.v) + self.q.dot(self.q)):
            raise diverged(self.robot, self.q, self.v, self.time, self._step)
        if self._walks:
            self._tree.take_home_along(self.q)

    def force_torque(self, joint: str, wrenches: Wrenches = NO_WRENCHES) -> Array:
        """Reading (6,) of a sensor in a joint, see `ForceTorque`, mean over the last step.

        wrenches : those on links that came into the step as efforts.
        """
        return self._sensors.mean(joint, self.q, self.v, self._slow, self._step, wrenches)

    def _accelerate(self, share: float, q: Array, v: Array, result: Array) -> None:
        """Accelerations (nv,) with the damping and sliding friction of now."""
        dynamics, direct = self._dynamics, self._drive.direct
        dynamics.q[:], dynamics.v[:], dynamics.effort[:] = q, v, self.effort
        if self._rough and direct:
            np.subtract(self.effort, self._resistance(q, v), out=dynamics.effort)
        dynamics()
        result[:] = dynamics.a
        if self._rough and not direct:
            result -= np.linalg.solve(self._mass_at(q), self._resistance(q, v))

    def _accelerate_damped(self, share: float, q: Array, v: Array, result: Array) -> None:
        """Accelerations (nv,) with damping as of the end of the step."""
        mass = self._mass_at(q)
        load = self._drive.generalized(q, self.effort)
        self._holding.q[:] = q
        self._holding()
        load = load - (self.robot.coriolis_vector(q, v) + self._holding.effort)
        result[:] = np.linalg.solve(mass, load - self._resistance(q, v))

    @functools.cached_property
    def _holding(self) -> Bound:
        """Efforts that hold the robot at rest; damped steps alone ask for them."""
        return Bound(self.robot.calls.kernel(holding_vector))

    def _stick(self, coulomb: Coulomb, start: Array) -> None:
        """Correct a step in which a joint with dry friction was at rest or turned round.

        The step has taken -h F sign(v) of it already, nothing where v was 0.
        """
        slides, h = self._slides, self._step
        bound = h * self._dry
        given = self._rubbed = -bound * slides
        coulomb.at(self.q)
        rows, velocity = coulomb.rows, coulomb.rows @ self.v
        if (velocity * slides > 0).all():
            return
        columns = np.linalg.solve(self._mass_at(self.q), rows.T)
        matrix = rows @ columns
        impulse = friction_impulses(velocity - matrix @ given, matrix, bound, self._impulse)
        self._impulse[:] = self._rubbed = impulse
        rests = np.abs(impulse) < bound
        after = self.v + columns @ (impulse - given)
        noise = STICKING_NOISE * (np.abs(rows) @ (np.abs(self.v) + np.abs(columns) @ bound))
        rests &= np.abs(rows @ after) <= noise
        basis = coulomb.motions(np.flatnonzero(rests))
        after = basis @ (basis.T @ after)
        change = after - self.v
        self.v[:] = after
        self._move(0.5 * h, change)  # the impulse is spread over the step
        for k in coulomb.coordinate[rests & (slides == 0)].tolist():
            if k in self._places:
                i = self._places[k]
                self.q[i] = start[i]  # what rests does not creep
        if not basis.size and not slides.any():
            self.q[:] = start

    @property
    def _rubbing_coordinates(self) -> NDArray[np.intp]:
        """Which coordinate each row of dry friction (m,) is; see `Coulomb`."""
        return np.zeros(0, dtype=np.intp) if self._coulomb is None else self._coulomb.coordinate

    def _rubbing_rows(self) -> Array:
        """The rows of dry friction (m, nv) where the robot stands."""
        if self._coulomb is None:
            return np.zeros((0, self.robot.nv))
        self._coulomb.at(self.q)
        return self._coulomb.rows

    def _move(self, span: float, velocity: Array) -> None:
        rate = np.empty(len(self.q))
        self._position_rate(self.q, velocity, rate)
        self.q += span * rate

    def _mass_at(self, q: Array) -> Array:
        """Mass matrix, with what damping adds to it where that counts at the end of the step."""
        self._mass.q[:] = q
        self._mass()
        matrix = self._mass.result
        if self._damps_at_end:
            matrix += self._step * self._damping_at(q)
        return matrix

    def _resistance(self, q: Array, v: Array) -> Array:
        """Damping, and the dry friction of what slides (nv,)."""
        coulomb = self._coulomb
        if coulomb is None:
            return np.zeros(len(v))
        coulomb.at(q)  # dry friction as at the start of the step, whatever the sign now
        return coulomb.resistance(v, self._slides)

    def _damping_at(self, q: Array) -> Array:
        """Damping matrix D (nv, nv) of the forces D v."""
        if self._coulomb is None:
            return np.zeros((self.robot.nv, self.robot.nv))
        self._coulomb.at(q)
        return self._coulomb.damping


def neutral_position(robot: Robot) -> Array:
    """Where home is (nq,): zeros, unless loops or the description want another position."""
    return robot.system.home[list(robot.system.coordinates.q)].copy()


def plain_coordinates(robot: Robot) -> dict[int, int]:
    """Place in q of every coordinate of v that is the rate of one of q."""
    places = {label: i for i, label in enumerate(robot.position_labels)}
    return {k: places[label] for k, label in enumerate(robot.velocity_labels) if label in places}
