"""A block on a slope sticks or slides: Coulomb's law against the formula, by the slope."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros
from mbdyn_ros import Environment, Stepper, Surface

block = mbdyn_ros.load(
    """<robot name="block"><link name="b"><inertial><mass value="1"/>
    <inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size=".2 .2 .1"/></geometry></collision></link></robot>""",
    floating_base=True,
)
slopes, reached = np.radians(np.linspace(5, 45, 9)), []
for slope in slopes:
    normal = (np.sin(slope), 0.0, np.cos(slope))
    floor = Environment([Surface.plane(normal=normal, friction=0.5, restitution=0.0)])
    stepper = Stepper(block, 1e-3, floor)
    turn = [0, np.sin(slope / 2), 0, np.cos(slope / 2)]
    stepper.set_state([*(0.05 * np.array(normal)), *turn], np.zeros(6))
    stepper.advance(500)
    reached.append(float(np.linalg.norm(stepper.v[:3])))
fine = np.radians(np.linspace(5, 45, 200))
formula = np.maximum(0, 9.81 * (np.sin(fine) - 0.5 * np.cos(fine))) * 0.5

figure, axes = plt.subplots()
axes.plot(np.degrees(fine), formula, label="g (sin s - mu cos s) t")
axes.plot(np.degrees(slopes), reached, "o", label="Stepper")
axes.set(xlabel="slope (degrees)", ylabel="speed after 0.5 s (m/s)", title="A block, mu = 0.5")
figure.legend(loc="outside right upper")
plt.savefig("sliding_block.png")
