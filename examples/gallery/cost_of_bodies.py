"""What a call costs by the number of joints: multiplications of three formulations' programs."""

import matplotlib.pyplot as plt

import mbdyn_ros

LINK = (
    '<link name="l{0}"><inertial><origin xyz=".3 .1 .05"/><mass value="1"/>'
    '<inertia ixx=".1" iyy=".2" izz=".15" ixy=".01" ixz=".02" iyz=".03"/></inertial></link>'
    '<joint name="j{0}" type="continuous"><parent link="{1}"/><child link="l{0}"/>'
    '<origin xyz=".5 .2 .1" rpy=".3 .5 .7"/><axis xyz="0 0 1"/></joint>'
)
names = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
counts = {name: [] for name in names}  # type: dict[str, list[int]]
sizes = range(1, 11)
for size in sizes:
    parts = [LINK.format(k, f"l{k - 1}" if k else "base") for k in range(size)]
    robot = mbdyn_ros.load('<robot name="r"><link name="base"/>' + "".join(parts) + "</robot>")
    counted = robot.operation_counts()
    for name in names:
        counts[name].append(counted[name]["multiplications"])

figure, axes = plt.subplots()
for name in names:
    axes.plot(sizes, counts[name], "o-", label=name.replace("_", " "))
axes.set(xlabel="joints", ylabel="multiplications", title="Chains of general links")
figure.legend(loc="outside right upper")
plt.savefig("cost_of_bodies.png")
