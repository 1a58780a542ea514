"""A loop closed by a few lines: a flap on a gas spring, and the force in the spring's eye."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros


def link(name: str, mass: float, middle: float) -> str:
    """A rod along its x axis."""
    return (
        f'<link name="{name}"><inertial><origin xyz="{middle} 0 0"/><mass value="{mass}"/>'
        '<inertia ixx=".01" iyy=".4" izz=".4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def joint(name: str, kind: str, parent: str, child: str, xyz: str, axis: str) -> str:
    """A joint without limits."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
        '<limit lower="-1" upper="1" effort="900" velocity="1"/></joint>'
    )


flap = mbdyn_ros.load(
    '<robot name="flap"><link name="car"/>'
    + link("flap", 20, 0.5) + link("tube", 0.4, 0.1) + link("piston", 0.3, 0.1)
    + joint("hinge", "continuous", "car", "flap", "0 0 1", "0 -1 0")
    + joint("foot", "continuous", "car", "tube", "0 0 0.6", "0 -1 0")
    + joint("spring", "prismatic", "tube", "piston", "0.25 0 0", "1 0 0")
    + '<loop name="eye" type="revolute"><predecessor link="piston"><origin xyz="0.25 0 0"/>'
    '</predecessor><successor link="flap"><origin xyz="0.3 0 0"/></successor>'
    '<axis xyz="0 1 0"/></loop></robot>',
    mechanism="{independent: [hinge], actuated: [spring], home: {foot: 0.9, hinge: 0.0}}",
)  # fmt: skip
angle = np.linspace(-0.6, 1.2, 200)[:, None]
zero = np.zeros_like(angle)
effort = flap.inverse_dynamics(angle, zero, zero)[:, 0]
eye = flap.loop_forces(angle, zero, zero)["eye"][:, :3]

figure, axes = plt.subplots()
axes.plot(np.degrees(angle), effort, label="the spring must push")
axes.plot(np.degrees(angle), np.linalg.norm(eye, axis=1), "--", label="the eye carries")
axes.set(xlabel="angle of the flap (degrees)", ylabel="force (N)", title="A flap on a gas spring")
figure.legend(loc="outside right upper")
plt.savefig("loop_of_your_own.png")
