"""A lamp that stays where it is put: pins and spring of a parallelogram, by gradients of energy."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import mbdyn_ros
from mbdyn_ros.array import Array


def link(name: str, mass: float, middle: float) -> str:
    """A rod along its x axis."""
    return (
        f'<link name="{name}"><inertial><origin xyz="{middle} 0 0"/><mass value="{mass}"/>'
        '<inertia ixx="1e-4" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def hinge(name: str, parent: str, child: str, xyz: str) -> str:
    """A hinge across the plane."""
    return (
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 -1 0"/></joint>'
    )


def pin(name: str, first: str, at: str, second: str, there: str) -> str:
    """A pin that closes a loop."""
    return (
        f'<loop name="{name}" type="revolute"><predecessor link="{first}"><origin xyz="{at}"/>'
        f'</predecessor><successor link="{second}"><origin xyz="{there}"/></successor>'
        '<axis xyz="0 -1 0"/></loop>'
    )


names = ["springs", "foot/z", "eye/successor/x"]
lamp = mbdyn_ros.load(
    '<robot name="lamp"><link name="wall"/>'
    + link("lower", 0.3, 0.2) + link("upper", 0.3, 0.2) + link("head", 0.8, 0.15)
    + link("tube", 0.05, 0.1) + link("rod", 0.05, 0.0)
    + hinge("lift", "wall", "lower", "0 0 0") + hinge("tilt", "lower", "head", "0.4 0 0")
    + hinge("follow", "wall", "upper", "0 0 0.08") + hinge("foot", "wall", "tube", "0 0 0.3")
    + '<joint name="spring" type="prismatic"><parent link="tube"/><child link="rod"/>'
    '<origin xyz="0.2 0 0"/><axis xyz="1 0 0"/><dynamics spring_stiffness="100"/>'
    '<limit lower="-1" upper="1" effort="900" velocity="1"/></joint>'
    + pin("corner", "head", "0 0 0.08", "upper", "0.4 0 0")
    + pin("eye", "rod", "0 0 0", "upper", "0.15 0 0") + "</robot>",
    mechanism="{independent: [lift], actuated: [lift], home: {lift: 0.1, foot: -1.0, tilt: -0.1}}",
    variable=names,
)  # fmt: skip
q, still = np.radians(np.linspace(-50, 60, 45))[:, None], np.zeros((45, 1))
labels = lamp.parameter_labels()
free = [labels.index(f"spring/spring_{one}") for one in ("stiffness", "reference")]
free += [labels.index(name) for name in names[1:]]
first = lamp.parameter_values()


def build(x: Array) -> None:
    """Give spring and pins other numbers."""
    numbers = first.copy()
    numbers[free] = x
    lamp.set_parameter_values(numbers)


def hills(x: Array) -> Array:
    """The potential energy along the way (J), less its mean: what the lamp rolls down."""
    build(x)
    energy = lamp.energy(q, still)[1]
    return energy - energy.mean()


def slopes(x: Array) -> Array:
    build(x)
    by_x = lamp.energy_by_parameters(q, still)[:, 1, free]
    return by_x - by_x.mean(axis=0)


found = least_squares(hills, first[free], slopes, x_scale=[100, 0.1, 0.1, 0.1])

figure, axes = plt.subplots()
for x, label in ((first[free], "as drawn"), (found.x, "balanced")):
    build(x)
    hold = lamp.inverse_dynamics(q, still, still)[:, 0]
    axes.plot(np.degrees(q), hold, label=label)
    print(f"{label}: holds with {np.abs(hold).max():.3g} N m at most")
print(*(f"{labels[k]} {value:.4g}" for k, value in zip(free, found.x, strict=True)), sep=", ")
axes.set(xlabel="angle of the arm (degrees)", ylabel="torque (N m)", title="What holds a lamp")
figure.legend(loc="outside right upper")
plt.savefig("balanced_lamp.png")
