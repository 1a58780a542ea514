"""Where the links of a robot are and how they move: poses, velocities, Jacobians.

`link` is any link of the description. `axes` says of which point, and in which axes: "world" (of
the link's origin, in world axes), "local" (the same in the link's own axes), or "spatial" (of the
link's point that is at the world's origin, in world axes); docs/quantities.md has what others call
them. Rows are linear, then angular. For single states these programs are interpreted, unless
compiled by name: `robot.compile("jacobian", link="tool0")`.
"""

from __future__ import annotations

from ..arguments import require_frame, require_link
from ..array import Array, ArrayLike
from ..equations import frames, inertia_matrices, parameter_derivatives
from ..errors import InputError
from ..program.program import Declaration
from .core import Core


class Frames(Core):
    """Poses and motion of links."""

    def frame_pose(self, q: ArrayLike, link: str, out: Array | None = None) -> Array:
        """Homogeneous matrix (4, 4) or (N, 4, 4) of a link's frame in the world."""
        try:
            found = self._plain.of_links["frame_pose", link](q, out)
        except (KeyError, TypeError):  # not compiled, or not the name of a link
            found = None
        if found is None:
            known = require_link(self.system.tree, link, self.model.source)
            found = self.calls.call(frames.frame_pose, (q,), about=known, out=out)
        return found

    def frame_pose_by_parameters(self, q: ArrayLike, link: str, out: Array | None = None) -> Array:
        """Derivatives (6, p) or (N, 6, p) of a link's pose by `parameter_values`, q held.

        Of its origin, and of its turn: [w]x = dR R^T; both in world axes.
        """
        program = parameter_derivatives.frame_pose_by_parameters
        self._require_answer(program)
        known = require_link(self.system.tree, link, self.model.source)
        return self.calls.call(program, (q,), about=known, out=out)

    def frame_velocity(
        self, q: ArrayLike, v: ArrayLike, link: str, axes: str = "world", out: Array | None = None
    ) -> Array:
        """Linear and angular velocity (6,) or (N, 6) of a link, m/s and rad/s."""
        try:
            found = self._plain.of_links["frame_velocity", link, axes](q, v, out)
        except (KeyError, TypeError):
            found = None
        if found is None:
            found = self._of_frame(frames.frame_velocity, (q, v), link, axes, out)
        return found

    def frame_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        link: str,
        axes: str = "world",
        out: Array | None = None,
    ) -> Array:
        """Linear and angular acceleration (6,) or (N, 6) of a link, m/s^2 and rad/s^2.

        The linear one is that of the link's origin as a particle (the classical one), also in local
        axes; an accelerometer there reads it less gravity. In spatial axes it is the rate of the
        spatial velocity. In world and spatial axes it is jacobian a + jacobian_rate v.
        """
        try:
            found = self._plain.of_links["frame_acceleration", link, axes](q, v, a, out)
        except (KeyError, TypeError):
            found = None
        if found is None:
            found = self._of_frame(frames.frame_acceleration, (q, v, a), link, axes, out)
        return found

    def jacobian(
        self, q: ArrayLike, link: str, axes: str = "world", out: Array | None = None
    ) -> Array:
        """Jacobian (6, nv) or (N, 6, nv) of a link; `frame_velocity` is its product with v."""
        try:
            found = self._plain.of_links["jacobian", link, axes](q, out)
        except (KeyError, TypeError):
            found = None
        if found is None:
            found = self._of_frame(frames.jacobian, (q,), link, axes, out)
        return found

    def jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, link: str, axes: str = "world", out: Array | None = None
    ) -> Array:
        """Rate (6, nv) or (N, 6, nv) of `jacobian` along the motion, dJ/dt, entry by entry."""
        try:
            found = self._plain.of_links["jacobian_rate", link, axes](q, v, out)
        except (KeyError, TypeError):
            found = None
        if found is None:
            found = self._of_frame(frames.jacobian_rate, (q, v), link, axes, out)
        return found

    def operational_mobility(
        self, q: ArrayLike, link: str, axes: str = "world", out: Array | None = None
    ) -> Array:
        """J M^-1 J^T (6, 6) or (N, 6, 6): acceleration of a link per force and moment on it."""
        self.require_mass("the operational mobility")
        return self._of_frame(inertia_matrices.operational_mobility, (q,), link, axes, out)

    def operational_inertia(
        self, q: ArrayLike, link: str, axes: str = "world", out: Array | None = None
    ) -> Array:
        """Operational-space inertia (J M^-1 J^T)^-1 (6, 6) or (N, 6, 6) of a link.

        Raises
        ------
        SingularMassMatrixError
            The link cannot be moved in all six directions at q; NaN in that row of a batch.
        InputError
            The robot has fewer than six coordinates, so that no link ever can.
        """
        self.require_mass("the operational inertia")
        if self.nv < 6:
            raise InputError(
                f"{self.model.source}: {self.nv} coordinates move no link in six directions, so "
                "it has no operational inertia; use operational_mobility, and invert the part "
                "that you need"
            )
        return self._of_frame(inertia_matrices.operational_inertia, (q,), link, axes, out)

    def _of_frame(
        self,
        program: Declaration,
        values: tuple[ArrayLike, ...],
        link: str,
        axes: str,
        out: Array | None,
    ) -> Array:
        """A program of a link and axes."""
        about = require_frame(self.system.tree, link, axes, self.model.source)
        return self.calls.call(program, values, about=about, out=out)
