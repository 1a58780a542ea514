"""Loads of a four-bar's bearings over a turn, which is what one designs them for."""

import matplotlib.pyplot as plt
import numpy as np

from mbdyn_ros.mechanisms import Analysis, FourBar, constant_speed

analysis = Analysis(FourBar(), constant_speed(30.0))
angle = np.linspace(0, 2 * np.pi, len(analysis.torque))

figure, axes = plt.subplots(subplot_kw={"projection": "polar"}, figsize=(6, 5))
for name, reaction in analysis.reactions.items():
    force = np.hypot(reaction[:, 0], reaction[:, 1])
    worst = force.argmax()
    (line,) = axes.plot(angle, force, label=name)
    axes.plot(angle[worst], force[worst], "o", color=line.get_color())
    print(f"{name}: at most {force[worst]:.1f} N, at {np.degrees(angle[worst]):.0f} degrees")
plt.rgrids(np.arange(20, 160, 20), angle=112)
axes.set_title("Forces in the pins (N) by the angle of the crank")
figure.legend(loc="outside right upper")
plt.savefig("bearing_loads.png", bbox_inches="tight")
