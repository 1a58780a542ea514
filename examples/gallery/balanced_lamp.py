"""A lamp that stays where it is put: pins and spring of a parallelogram, by gradients of energy."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import mbdyn_ros
from mbdyn_ros.array import Array

text = '<robot name="lamp"><link name="wall"/>'
rods = {"lower": (0.3, 0.2), "upper": (0.3, 0.2), "head": (0.8, 0.15), "tube": (0.05, 0.1)}
for name, (mass, middle) in {**rods, "rod": (0.05, 0.0)}.items():  # kg; m along the link
    text += f"""<link name="{name}"><inertial><origin xyz="{middle} 0 0"/><mass value="{mass}"/>
      <inertia ixx="1e-4" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
for name, parent, child, place in (
    ("lift", "wall", "lower", "0 0 0"), ("tilt", "lower", "head", "0.4 0 0"),
    ("follow", "wall", "upper", "0 0 0.08"), ("foot", "wall", "tube", "0 0 0.3"),
):  # fmt: skip
    text += f"""<joint name="{name}" type="continuous"><parent link="{parent}"/>
      <child link="{child}"/><origin xyz="{place}"/><axis xyz="0 -1 0"/></joint>"""
for name, one, at, there in (("corner", "head", 0.08, 0.4), ("eye", "rod", 0, 0.15)):
    text += f"""<loop name="{name}" type="revolute"><axis xyz="0 -1 0"/>
      <predecessor link="{one}"><origin xyz="0 0 {at}"/></predecessor>
      <successor link="upper"><origin xyz="{there} 0 0"/></successor></loop>"""
text += """<joint name="spring" type="prismatic"><parent link="tube"/><child link="rod"/>
  <origin xyz="0.2 0 0"/><axis xyz="1 0 0"/><dynamics spring_stiffness="100"/>
  <limit lower="-1" upper="1" effort="900" velocity="1"/></joint></robot>"""
setup = "{independent: [lift], actuated: [lift], home: {lift: 0.1, foot: -1.0, tilt: -0.1}}"
lamp = mbdyn_ros.load(text, setup, variable=["springs", "foot/z", "eye/successor/x"])
names = ["spring/spring_stiffness", "spring/spring_reference", "foot/z", "eye/successor/x"]
free = [lamp.parameter_labels().index(name) for name in names]
q, still = np.radians(np.linspace(-50, 60, 45))[:, None], np.zeros((45, 1))
first = lamp.parameter_values()


def hills(x: Array) -> Array:
    """The potential energy along the way (J), less its mean: what the lamp rolls down."""
    numbers = first.copy()
    numbers[free] = x
    lamp.set_parameter_values(numbers)
    energy = lamp.energy(q, still)[1]
    return energy - energy.mean()


def slopes(x: Array) -> Array:
    hills(x)  # takes the numbers
    by_x = lamp.energy_by_parameters(q, still)[:, 1, free]
    return by_x - by_x.mean(axis=0)


found = least_squares(hills, first[free], slopes, x_scale=[100, 0.1, 0.1, 0.1])
figure, axes = plt.subplots()
for x, label in ((first[free], "as drawn"), (found.x, "balanced")):
    hills(x)
    axes.plot(np.degrees(q), lamp.inverse_dynamics(q, still, still)[:, 0], label=label)
axes.set(xlabel="angle of the arm (degrees)", ylabel="torque (N m)", title="What holds a lamp")
figure.legend(loc="outside right upper")
plt.savefig("balanced_lamp.png")
