"""The curves that points of a four-bar's coupler draw."""

import matplotlib.pyplot as plt

from mbdyn_ros.mechanisms import Analysis, FourBar, constant_speed

linkage = FourBar()
analysis = Analysis(linkage, constant_speed(10.0))

figure, axes = plt.subplots(figsize=(7, 5))
for k, along in enumerate((0.05, 0.15, 0.25)):
    for across in (0.0, 0.08, 0.16):
        curve = analysis.curve("coupler", (along, across))
        label = f"{along:g} m along it" if across == 0 else None
        axes.plot(curve[:, 0], curve[:, 1], f"C{k}", alpha=1 - 4 * across, label=label)
        axes.plot(*curve[0], f"C{k}o", alpha=1 - 4 * across, markersize=4)
axes.plot([0, linkage.lengths["ground"]], [0, 0], "k^", label="pivots on the ground")
axes.set_aspect("equal")
axes.set(xlabel="x (m)", ylabel="y (m)", title="Nine points of one coupler, and where they begin")
figure.legend(loc="outside right upper")
plt.savefig("coupler_curves.png")
