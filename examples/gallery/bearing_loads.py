"""Loads of a four-bar's bearings over a turn, which is what one designs them for."""

import matplotlib.pyplot as plt
import numpy as np

from mbdyn_ros.mechanisms import Analysis, FourBar, constant_speed

analysis = Analysis(FourBar(), constant_speed(30.0))
angle = np.linspace(0, 360, len(analysis.torque))
figure, axes = plt.subplots(subplot_kw={"projection": "polar"}, figsize=(6, 5))
for name, reaction in analysis.reactions.items():
    axes.plot(np.radians(angle), np.hypot(reaction[:, 0], reaction[:, 1]), label=name)
plt.rgrids(np.arange(20, 160, 20), angle=112)
axes.set_title("Forces in the pins (N) by the angle of the crank")
figure.legend(loc="outside right upper")
plt.savefig("bearing_loads.png", bbox_inches="tight")
