"""The curves that points of a four-bar's coupler draw."""

import matplotlib.pyplot as plt

from mbdyn_ros.mechanisms import Analysis, FourBar, constant_speed

analysis = Analysis(FourBar(), constant_speed(10.0))
figure, axes = plt.subplots(figsize=(6, 5))
for k, along in enumerate((0.05, 0.15, 0.25)):
    for across in (0.0, 0.08, 0.16):
        curve = analysis.curve("coupler", (along, across))
        axes.plot(curve[:, 0], curve[:, 1], f"C{k}", alpha=1 - 4 * across)
axes.set_aspect("equal")
axes.set(xlabel="x (m)", ylabel="y (m)", title="Nine points of one coupler")
plt.savefig("coupler_curves.png")
