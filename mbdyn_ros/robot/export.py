"""A robot's equations as text: the methods of `Robot` that write it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..arguments import checked_names, checked_text
from ..errors import InputError, brief, shown
from ..model.read.source_text import load_text
from .configuration import Configurations
from .parameters import layout_of

if TYPE_CHECKING:
    from ..export.c_export import Exported
    from ..export.c_library import CLibrary, CProgram
    from ..export.closed_form import ClosedForm

PRECISIONS = ("double", "single")
"""Precisions of exported C."""


class Exports(Configurations):
    """The equations as closed form, C and C++."""

    @brief
    def closed_form(self, symbols: Sequence[str] = ()) -> ClosedForm:
        """Every element of H, C and g in P = H qdd + qd^T C qd + g as a trigonometric polynomial.

        Without friction and springs. `export.closed_form_text` writes it as text, Markdown and
        LaTeX.

        Parameters
        ----------
        symbols : numbers that stay symbols: "masses", "centres" (of mass), "moments" (of inertia),
            "lengths"; what is zero in the robot stays zero. `ClosedForm.numbers` lists them.

        Raises
        ------
        InputError
            The robot has closed loops, a floating base, or other than turning and sliding joints;
            or an unknown kind of symbols.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.export.closed_form_text import to_text
        >>> robot = mbdyn_ros.load('''{name: arm, joints: [{name: swing, type: revolute, a: 0.5,
        ...   alpha: 1.5707963267948966, d: 0, theta: 0, mass: 2, centre: [-0.25, 0, 0],
        ...   inertia: {ixx: 0, iyy: 0.1, izz: 0.1}}]}''', gravity=[0, -10, 0])
        >>> print(to_text(robot.closed_form()))
        # arm: P = H(q) qdd + qd^T C(q) qd + g(q)
        # C1 = cos(q1), S1 = sin(q1), q1: swing, rad
        # efforts P in N m and N, gravity 0 -10 0 m/s^2
        # H is symmetric, and C in its last two indices: only one of two equal elements is listed
        # 3 elements, 1 of them zero (33.3%)
        H11 = 0.225
        C111 = 0
        g1 = 5*C1
        """
        from ..export.closed_form import closed_form  # few programs need it

        return closed_form(self.system, self.model.name, self.model.source, symbols)

    @brief
    def generate_c(
        self,
        directory: str | os.PathLike[str],
        links: Sequence[str] | None = None,
        parameters: Sequence[str] = (),
        more: Sequence[CProgram] = (),
        precision: str = "double",
    ) -> Exported:
        """Write the equations as self-contained C99: no libraries, no memory, no state.

        Inverse and forward dynamics, mass matrix, gravity vector, and the Jacobians of links,
        with a header, a test program, a CMakeLists.txt and a Python module; all names begin with
        the robot's.

        Parameters
        ----------
        directory : folder to write into; made if it is not there.
        links : links whose Jacobian is wanted; those at the ends of the robot if not given.
        parameters : links whose inertias, and "gravity" and "friction", whose numbers are arguments
            of the functions, in one array after the others; `parameter_labels` and
            `parameter_values` have its order and the numbers that hold now.
        more : programs of applications to export with them.
        precision : "double", or "single": C of float, for processors that have no other.

        Returns
        -------
        The files, the names of the functions, and what was left out, with the reason.

        Raises
        ------
        InputError
            An unknown link or precision, a folder that cannot be written, a file in it that is not
            ours; single precision where loops are closed by Newton's method, which needs double.

        Examples
        --------
        >>> import mbdyn_ros, tempfile
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in robot.generate_c(folder).files]
        ['cart.h', 'cart.c', 'test_cart.c', 'CMakeLists.txt', 'cart.py']
        """
        from ..export.c_export import export_c  # few programs need them
        from ..export.c_library import CProgram
        from .c_description import describe

        layout = layout_of(self, parameters)
        if not isinstance(more, (list, tuple)) or not all(
            isinstance(one, CProgram) for one in more
        ):
            raise InputError(f"more must be a list of programs to export; it is {shown(more)}")
        if not isinstance(precision, str) or precision not in PRECISIONS:
            raise InputError(f"precision is {shown(precision)}; choose of {', '.join(PRECISIONS)}")
        if precision == "single" and self.numerical_joints:
            raise InputError(
                f"{self.model.source}: the loops of {', '.join(self.numerical_joints)} are "
                "closed by Newton's method to 1e-12, beyond single precision; export double "
                "precision"
            )

        def described() -> CLibrary:
            return replace(describe(self, links, layout, more), precision=precision)

        return export_c(directory, described)

    @brief
    def generate_cpp(
        self,
        directory: str | os.PathLike[str],
        links: Sequence[str] | None = None,
        parameters: Sequence[str] = (),
        description: str | None = None,
        control_link: str = "",
        imu_links: Sequence[str] = (),
        force_torque_joints: Sequence[str] = (),
        felt_links: Sequence[str] = (),
    ) -> Exported:
        """Write the equations as a C++17 class around self-contained C99, as a CMake package.

        Names of joints and limits as constants, inverse and forward dynamics, gravity compensation,
        joint states of loops that follow from the last position; a C interface that other programs
        open at run time, with the control laws of `control.MODES`; an example of a 1 kHz loop.

        Parameters
        ----------
        directory, links, parameters : as `generate_c` has them; parameters begin with the numbers
            that hold now.
        description : text that the robot was made of, by whose hash a program of another robot is
            noticed; that of the file it was loaded from, if not given.
        control_link : link that the mode `cartesian_impedance` of the control laws is about;
            without it there is no such mode.
        imu_links : links with inertial measurement units (`simulation.sensors`), whose readings the
            C interface then has. force_torque_joints : joints with force-torque sensors
            (`simulation.sensors`), fixed ones too, which carry no part of a closed loop.
        felt_links : links at which external wrenches are felt (external_wrench.hpp).

        Returns
        -------
        The files, the names of the C functions, and what was left out, with the reason.

        Raises
        ------
        InputError
            As `generate_c`.

        Examples
        --------
        >>> import mbdyn_ros, tempfile
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART, variable=["cart"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = robot.generate_cpp(folder, parameters=["cart"], description=CART)
        >>> [path.name for path in written.files][:5]
        ['cart.h', 'cart.c', 'cart_model.c', 'cart.hpp', 'test_cart.c']
        """
        from ..export.cpp_export import description_hash, export_cpp  # few programs need them
        from .c_description import describe_model

        layout = layout_of(self, parameters)
        checked_text("control_link", control_link)
        if description is not None:
            checked_text("description", description)
        elif os.path.isfile(self.model.source):
            description = load_text(self.model.source)[1]
        known_by = description_hash(description) if description else ""
        return export_cpp(
            directory,
            lambda: describe_model(
                self, links, layout, known_by, control_link,
                checked_names("imu_links", imu_links),
                checked_names("force_torque_joints", force_torque_joints),
                checked_names("felt_links", felt_links),
            ),
        )  # fmt: skip

    @brief
    def generate_fmu(self, file: str | os.PathLike[str]) -> Exported:
        """Write the robot as a unit of FMI 3.0 for other simulators, and for FMPy.

        Model exchange and co-simulation; inputs `effort/<joint>` of the actuated joints, outputs
        and states `position/<joint>` and `velocity/<joint>` of the independent ones, which start
        at home at rest and can be set. Loops are closed, friction is that of moving joints; joint
        limits, walls and the sticking of dry friction are not in it.

        Parameters
        ----------
        file : name of the unit, which ends with .fmu. It holds the sources and, where there is a C
            compiler, the library for this machine.

        Raises
        ------
        InputError
            A floating base, a joint of several freedoms, a massless link; a file that cannot be
            written.

        Examples
        --------
        >>> import mbdyn_ros, pathlib, tempfile
        >>> from mbdyn_ros.model.examples import CART
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = mbdyn_ros.load(CART).generate_fmu(pathlib.Path(folder, "cart.fmu"))
        >>> written.files[0].name
        'cart.fmu'
        """
        from ..export.fmi_export import export_fmu  # few programs need them
        from .c_description import describe

        return export_fmu(file, lambda: describe(self, []), self.home_position)
