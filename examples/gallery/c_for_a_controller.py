"""Gravity compensation as C99 that needs no library: exported, compiled, called."""

import ctypes
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("panda")
folder = Path("panda_c")
robot.generate_c(folder)
source = next(folder.glob("*.c"))
listed = sorted(folder.glob("*.[ch]"))
library = folder / "panda.so"
command = ["cc", "-O2", "-fPIC", "-shared", str(folder / "panda.c"), "-o", str(library), "-lm"]
subprocess.run(command, check=True)
exported = ctypes.CDLL(str(library.resolve())).panda_gravity_vector

figure, axes = plt.subplots()
angles = np.linspace(-1.5, 0.5, 100)
for joint, name in ((1, "panda_joint2"), (3, "panda_joint4")):
    held = []
    for angle in angles:
        q = np.array([0, angle, 0, -2.0, 0, 1.5, 0])
        effort = np.zeros(7)
        exported(q.ctypes.data_as(ctypes.c_void_p), effort.ctypes.data_as(ctypes.c_void_p))
        held.append(effort[joint])
        assert abs(effort - robot.gravity_vector(q)).max() < 1e-12
    axes.plot(np.degrees(angles), held, label=name)
axes.set(xlabel="angle of joint 2 (degrees)", ylabel="torque (N m)", title="From exported C")
figure.legend(loc="outside right upper")
plt.savefig("c_for_a_controller.png")
