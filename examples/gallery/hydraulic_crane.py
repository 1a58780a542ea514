"""A crane on its valves: openings in, pressures and motion out."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.model.read.installed import find_robot

valves = find_robot("crane").with_name("manipulator_actuators.yaml")
crane = mbdyn_ros.example("crane", mechanism=valves)


def openings(t: float, q: Array, v: Array) -> Array:
    """Volts for the slewing motor; openings of the valves of lift, tilt and telescope."""
    return np.array([0.0, 0.4 * np.sin(4 * t), 0.0, 0.0])


motion = mbdyn_ros.simulate(crane, crane.home_position, np.zeros(4), 1.5, commands=openings)
labels = list(motion.actuator_labels)
figure, (above, below) = plt.subplots(2, figsize=(7, 5))
above.plot(motion.time, 1e3 * motion.q[:, 1])
for side in ("a", "b"):
    pressure = motion.actuator_states[:, labels.index(f"lift/pressure_{side}")]
    below.plot(motion.time, pressure / 1e5, label=f"chamber {side}")
above.set(
    xlabel="time (s)", ylabel="lift cylinder (mm)", title="A crane's lift, driven by its valve"
)
below.set(xlabel="time (s)", ylabel="pressure (bar)")
figure.legend(loc="outside right lower")
plt.savefig("hydraulic_crane.png")
