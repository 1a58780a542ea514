"""A robot's programs by name, bound to arrays, as expressions, counted."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..arguments import checked_flag, checked_names, require_frame, require_link
from ..compiler.bound import Bound
from ..errors import InputError, brief
from ..program.declaration import Declaration, declared, offered
from ..program.program import Program
from ..program.symbols import lasting, serialized
from .core import Core
from .parameters import symbolic_system


class Programs(Core):
    """Programs by name: bound to arrays, as expressions, compiled, counted."""

    @brief
    def bind(
        self, name: str, link: str | None = None, friction: bool = True, axes: str = "world"
    ) -> Bound:
        """The hot path: a compiled program with arrays of its own.

        Parameters
        ----------
        name : name of a method that computes an array (`inverse_dynamics`, `mass_matrix`, ...).
        link : for the programs of one link, such as `frame_pose` and `jacobian`.
        friction : for inverse and forward dynamics.
        axes : "world", "local" or "spatial", for the programs of a link's motion.

        Returns
        -------
        A callable without arguments. Its arrays are attributes named as the method's arguments
        (`q`, `v`, `a`, `effort`); the result is the array it names (`effort`; `a` of forward
        dynamics) and always `result`. Fill inputs (`bound.q[:] = q`, or `bound.q = q`, which copies
        q and checks its shape), call, read. A call checks nothing; one `Bound` serves one thread.
        Loops without closed form follow a motion: they are closed from where the last call left
        them, if q is near, else from home; see docs/closed_loops.md.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART)
        >>> fd = robot.bind("forward_dynamics")
        >>> fd.effort[:] = 3.0
        >>> fd()
        >>> fd.a
        array([1.5])
        """
        self.require_single("a bound call")
        return Bound(self.calls.kernel(*self._wanted(name, link, friction, axes)))

    @serialized
    @brief
    def casadi(
        self,
        name: str,
        link: str | None = None,
        friction: bool = True,
        axes: str = "world",
        parameters: bool | Sequence[str] = False,
    ) -> ca.Function:
        """The equations of a method as a CasADi `Function`, for optimizers such as acados.

        Parameters
        ----------
        name : as in `bind`; also "closure", the residual (m or rad) of the loops that have no
            closed form.
        link, friction, axes : as in `bind`.
        parameters : True (and always for derivatives by parameters): what is variable is the last
            argument (`parameter_labels`), or, where nothing is, all inertias, gravity and what acts
            on joints; or a list as `variable` in `load`, of which it shall be made.

        Returns
        -------
        A function of the method's arguments, expanded (SX), so that it can be differentiated,
        generated as C and mapped. Where loops have no closed form it has one more argument, `z`
        behind `q`: the positions (nz,) of `robot.numerical_joints`, in that order, of joints with
        several coordinates each of its own. Its result holds where closure(q, z) = 0 alone: impose
        that as a constraint, and start from z = `robot.numerical_positions(q)`. No function of
        CasADi can refuse another z.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART)
        >>> robot.casadi("forward_dynamics")
        Function(forward_dynamics:(q,v,effort)->(a) SXFunction)
        """
        if isinstance(name, str) and name == "closure":
            q, z = ca.SX.sym("q", self.nq), ca.SX.sym("z", self.system.nz)
            residual = self.system.closure(q, z)
            names = ["q", "z"], ["gap"]
            return lasting(ca.Function("closure", [q, z], [residual], *names, {"cse": True}))
        named = declared(name)
        if not isinstance(parameters, bool):
            parameters = checked_names("parameters", parameters)
        by_parameters = "variables" in named.needs
        if by_parameters:
            parameters = parameters or True
        system = self.system if parameters is False else symbolic_system(self, parameters)
        if by_parameters:  # of what is chosen here, whatever is variable
            return lasting(Program(named, system).symbolic)
        program, about, *loads = self._wanted(name, link, friction, axes)
        return lasting(Program(program, system, about, *loads).symbolic)

    @brief
    def compile(self, *names: str, link: str | None = None, axes: str = "world") -> None:
        """Load or compile the named programs now, several at once.

        Default: all of the robot but second derivatives, whose text is long, or all of `link`, in
        `axes`. Those of links are interpreted otherwise.
        """
        if link is None:
            self.calls.load(*((declared(name),) for name in names or offered()))
            return
        names = names or (*offered("link"), *offered("frame"))
        self.calls.load(*(self._wanted(name, link, True, axes) for name in names))

    @serialized
    def operation_counts(self) -> dict[str, dict[str, int]]:
        """Multiplications, additions, divisions and function calls of programs and formulations.

        Of every program by its name, as it is compiled, and of every formulation that applies to
        the robot as "inverse_dynamics by Newton-Euler" and so on (`export.operation_count`). A
        doubling counts as an addition, a change of sign as nothing.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART)
        >>> robot.operation_counts()["inverse_dynamics"]
        {'multiplications': 0, 'additions': 1, 'divisions': 0, 'functions': 0}
        """
        from ..export.operation_count import formulation_counts  # few programs need it

        counts = {name: Program(declared(name), self.system).operations for name in offered()}
        return {**counts, **formulation_counts(self.system)}

    def _wanted(
        self, name: str, link: str | None, friction: bool, axes: str
    ) -> tuple[Declaration, object, bool, bool]:
        """The program behind a method, what it is about, no wrenches, and whether friction counts.

        Or words about why there is none.
        """
        program = declared(name)
        if bool(program.about) != (link is not None):
            needed = "needs" if link is None else "has no"
            raise InputError(f"{name} {needed} link")
        self._require_answer(program)
        about: object = None
        if program.about == "frame":
            about = require_frame(self.system.tree, link, axes, self.model.source)
        elif link is not None:
            about = require_link(self.system.tree, link, self.model.source)
        friction = checked_flag("friction", friction)
        friction = friction or not program.loaded or not self.calls.traced.has_friction
        return program, about, False, friction
