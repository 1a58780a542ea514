"""Linearly actuated parallel-serial manipulators by assembled inertias (Paz Anaya and Mattila).

After "Analytical forward dynamics modeling of linearly actuated heavy-duty parallel-serial
manipulators"; numbers in brackets are its equations. Their right sides are derived here.

A module is a joint of one degree of freedom, or a closed loop of an upper link U and a cylinder
(barrel C, rod R) on one base B: U turns on B at O, C turns on B at A, R slides along AP, and the
pin P joins R and U. With L = |OA|, L_1 = |OP|, and the length c = x + x_0 = |AP| of the cylinder,
the law of cosines gives the angles of the triangle at O, A and P, (2):

    cos q   = (L^2 + L_1^2 - c^2) / (2 L L_1),
    cos q_1 = (L^2 + c^2 - L_1^2) / (2 L c),
    cos q_2 = (L_1^2 + c^2 - L^2) / (2 L_1 c)

and their rates, (4), (5), and accelerations, (7), (27):

    qd   = J xd,    J   = c / (L L_1 sin q),
    q_1d = J_1 xd,  J_1 = (L cos q_1 - c) / (L c sin q_1),
    qdd  = J xdd + J_rate xd,  q_1dd = J_1 xdd + J_1_rate xd

Twists V = [w; v] and their rates are in body axes at body origins, (6), (9), (10):

    V_i = X_i V_j + S_i qd_i,   Vd_i = X_i Vd_j + S_i qdd_i + ad(V_i) S_i qd_i

Every body asks for the wrench F_i = [n; f], (11), (12), to which the modules that it carries add
their own, (20) to (24):

    F_i = I_i Vd_i + p_i,   p_i = -ad(V_i)^T I_i V_i

The passive joints bear no moment about their axes (55). So, in the axes of the cylinder (x from A
to P, z that of the joint at O), the force phi of R on U at P and the force f of the cylinder obey
the linear system (57), with a row each for the moments about O and about A and for the force on the
rod along x:

    [-r_y  r_x  0] [phi_x]   [n_O(F_U)      ]
    [  0   -c   0] [phi_y] = [n_A(F_C + F_R)],   r = OP = L_1 (cos q_2, -s sin q_2)
    [ -1    0   1] [  f  ]   [f_x(F_R)      ]

with s = +-1 the side on which the loop stands. Its determinant is r_y c, and Cramer's rule (61)
gives f. Only the components f_x, f_y, n_z of the wrenches enter (56), (64); the total wrench of the
cylinder on the rod is F_R + phi at P (18), (65).

In terms of accelerations, with Vd_i = X_i Vd_B + a_i xdd + d_i for i in U, C, R (29), (30),

    f = mu xdd + beta,  beta = b^T Vd_B + beta_0                      (34), (35), (41) to (43)
    xdd = (f - b^T Vd_B - beta_0) / mu                               (36), (46)
    F_B = sum X_i^T F_i = I^A Vd_B + p^A                             (37) to (40), (47) to (49)

and for a joint of one degree of freedom, with U = I S and D = S^T U, (50) to (52):

    I^A = X^T (I - U U^T / D) X,   p^A = X^T (p + I d + U (tau - S^T (p + I d)) / D)

Algorithm 1 goes over the modules three times: twists from the base to the tool, I^A and p^A back,
accelerations again to the tool. Gravity is an acceleration of the base against it.

Modules need not be in a chain: a body may carry several. A joint of one degree of freedom is the
case of one body, so (50) to (52) need no text of their own: with a = S and f = S^T F, (34) to (49)
are they. By virtual power the row of f in (65) is a_i^T of (29), so that b = sum X_i^T I_i a_i.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from ...array import Array
from ...model.closing_types import Rotation, Translation
from ...prepare.clusters import PARALLEL_AXES, Cluster
from ...prepare.tree import WORLD, Body
from ..algebra.phasors import Complex
from ..algebra.spatial import SX, CosineSine, JointMotion, constant, joint_motion, skew
from ..formulation import Study, formulation
from ..loops.linkage import Linkage
from ..system import System
from ..tree.newton_euler import acting

ON_THE_LINE = 1e-9
"""Share of a cylinder's length by which its pin may lie off the line along which it slides."""


@dataclass(frozen=True)
class Triangle:
    """The loop O A P as numbers, in the paper's letters.

    upper, barrel, rod : bodies. L, L_1 : m. x_0 : length of the cylinder at x = 0, m.
    side : s. outward : +-1, whether the cylinder gets longer with x. barrel_side : +-1, whether
        the barrel's axis points as the upper link's.
    upper_zero, barrel_zero : unit turns of the two joints at q = 0 and at q_1 = 0.
    """

    name: str
    base: int
    upper: int
    barrel: int
    rod: int
    L: float
    L_1: float
    x_0: float
    side: int
    outward: int
    barrel_side: int
    upper_zero: complex
    barrel_zero: complex

    @classmethod
    def of(cls, system: System, linkage: Linkage) -> Triangle | None:
        """That of a linkage; None where it is not a loop of an upper link and a cylinder."""
        bodies, closures = system.tree.bodies, linkage.cluster.closures
        if len(closures) != 1 or linkage.cluster.gears or len(linkage.cluster.bodies) != 3:
            return None
        closing = closures[0].closing
        short, long = sorted(closures[0].ends, key=lambda end: len(end[0]))
        if closing.slide is not Translation.NOWHERE or closing.turn not in (
            Rotation.ABOUT,
            Rotation.ALL,
        ):
            return None
        if (len(short[0]), len(long[0])) != (1, 2):
            return None
        (upper,), (barrel, rod) = short[0], long[0]
        kinds = [bodies[k].kind for k in (upper, barrel, rod)]
        independent = [linkage.cluster.coupled[k] for k in linkage.independent]
        if kinds != ["revolute", "revolute", "prismatic"] or independent != [rod]:
            return None

        # vectors across the axes, as complex numbers in the frames that U and C have at zero
        one, two, slid = bodies[upper].placement, bodies[barrel].placement, bodies[rod].placement
        between = two.translation - one.translation
        OA, AO = _flat(one.rotation.T @ between), _flat(two.rotation.T @ -between)
        OP, along = _flat(short[1].translation), _flat(slid.rotation @ bodies[rod].axis)
        AP = _flat(slid.translation + slid.rotation @ long[1].translation)
        x_0 = (AP * along.conjugate()).real
        axis = one.rotation.T @ two.rotation[:, 2]
        if not (abs(OA) and abs(OP)) or abs(AP - x_0 * along) > ON_THE_LINE * abs(OA):
            return None
        if max(abs(abs(axis[2]) - 1), abs(abs(along) - 1)) > PARALLEL_AXES:
            return None
        turned, x = (system.home[bodies[k].q.start] for k in (upper, rod))
        seen = OP * cmath.rect(1.0, turned + bodies[upper].offset) / OA
        outward = 1 if x_0 + x > 0 else -1
        return cls(
            name=closures[0].name,
            base=bodies[upper].parent,
            upper=upper,
            barrel=barrel,
            rod=rod,
            L=abs(OA),
            L_1=abs(OP),
            x_0=outward * x_0,
            side=1 if seen.imag > 0 else -1,
            outward=outward,
            barrel_side=1 if axis[2] > 0 else -1,
            upper_zero=_unit(OA / OP),
            barrel_zero=_unit(AO / (outward * along)),
        )

    @property
    def signs(self) -> tuple[int, int]:
        """How the joints of U and C turn with q and q_1."""
        return self.side, -self.side * self.barrel_side


def _flat(vector: Array) -> complex:
    return complex(vector[0], vector[1])


def _unit(value: complex) -> complex:
    return value / abs(value)


class CylinderLoop:
    """The kinematics of a loop at a position x and a velocity xd of its cylinder: (2) to (7).

    Attributes
    ----------
    c, cd : length of the cylinder and its rate, m, m/s.
    cosines, sines : of q, q_1 and q_2.
    J, J_1 : rates of q and q_1 by c; J_rate, J_1_rate : theirs in time.
    r : OP in the axes of the cylinder, m.
    """

    def __init__(self, triangle: Triangle, x: SX, xd: SX) -> None:
        self.triangle, L, L_1 = triangle, triangle.L, triangle.L_1
        self.c = c = triangle.outward * x + triangle.x_0
        self.cd = cd = triangle.outward * xd
        cosine = (L * L + L_1 * L_1 - c * c) * (1 / (2 * L * L_1))  # (2a)
        sine = ca.sqrt(1 - cosine * cosine)
        cosine_2, sine_2 = (L_1 - L * cosine) / c, sine * L / c  # (2c): projection, law of sines
        self.cosines = cosine, (L - L_1 * cosine) / c, cosine_2
        self.sines = sine, sine * L_1 / c, sine_2
        self.J = J = c / (L * L_1 * sine)  # (5a)
        self.J_1 = J_1 = -cosine_2 / (c * sine_2)  # (5b), as L cos q_1 - c = -L_1 cos q_2
        self.J_rate = J / c * (1 - J * J * L * L_1 * cosine) * cd
        self.J_1_rate = -((J + J_1) / (sine_2 * sine_2) + J_1) / c * cd
        self.r = L_1 * cosine_2, -triangle.side * L_1 * sine_2

    def joints(self, bodies: Sequence[Body], x: SX) -> dict[int, JointMotion]:
        """The joints of U, C and R."""
        triangle = self.triangle
        positions: dict[int, SX | CosineSine] = {triangle.rod: x}
        pairs = zip((triangle.upper, triangle.barrel), triangle.signs, strict=True)
        zeros = triangle.upper_zero, triangle.barrel_zero
        for k, (body, sign) in enumerate(pairs):
            turn = Complex.of(zeros[k]) * Complex(self.cosines[k], sign * self.sines[k])
            positions[body] = CosineSine(turn.re, turn.im)
        return {body: joint_motion(bodies[body], one) for body, one in positions.items()}

    def rates(self) -> dict[int, tuple[SX, SX]]:
        """By body, the rate of its joint by xd, and what its acceleration has besides xdd."""
        triangle, (turn, turn_1) = self.triangle, self.triangle.signs
        return {
            triangle.upper: (turn * triangle.outward * self.J, turn * self.J_rate * self.cd),
            triangle.barrel: (
                turn_1 * triangle.outward * self.J_1,
                turn_1 * self.J_1_rate * self.cd,
            ),
            triangle.rod: (SX(1), SX(0)),
        }

    def force(self, about_O: SX, about_A: SX, along: SX) -> SX:
        """f by Cramer's rule (61), from n_O(F_U) and n_A(F_C + F_R) about z, and f_x(F_R)."""
        r_x, r_y = self.r
        return along - about_O / r_y - about_A * r_x / (r_y * self.c)

    def pin_force(self, about_O: SX, about_A: SX) -> tuple[SX, SX]:
        """phi (57), along and across the cylinder."""
        (r_x, r_y), phi_y = self.r, -about_A / self.c
        return (r_x * phi_y - about_O) / r_y, phi_y


@dataclass(frozen=True)
class Module:
    """Bodies that one joint or one cylinder moves against a base.

    driver : the body whose joint is driven. base : the body (or the world) that carries them.
    motions : by body X_i (6, 6), a_i and d_i (6, 1) of Vd_i = X_i Vd_B + a_i xdd + d_i (29).
    turned : by body the rate and the drift of its joint, qdd_i = rate xdd + drift.
    effort : (16), (61): the effort of the driver, from wrenches (6, n) that the bodies ask for and
        torques (1, n) that rotors ask for in their joints.
    loop : of the cylinder; None for a joint. pin : phi as a wrench (6, 1) in the barrel's axes at
        A, of the same; None for a joint.
    """

    driver: int
    base: int
    motions: Mapping[int, tuple[SX, SX, SX]]
    turned: Mapping[int, tuple[SX, SX]]
    effort: Callable[[Mapping[int, SX], Mapping[int, SX]], SX]
    loop: CylinderLoop | None = None
    pin: Callable[[Mapping[int, SX], Mapping[int, SX]], SX] | None = None


@dataclass(frozen=True)
class ModuleDynamics:
    """A module as (35) to (37) see it: f = mu xdd + b^T Vd_B + beta_0, F_B = I^A Vd_B + p^A.

    mu : kg, or kg m^2 of a revolute joint. b : (6, 1). beta_0 : N, or N m. inertia : I^A (6, 6).
    bias : p^A (6, 1) under the effort f.
    """

    mu: SX
    b: SX
    beta_0: SX
    inertia: SX
    bias: SX


@dataclass(frozen=True)
class Required:
    """Accelerations, wrenches and efforts of a motion.

    Vd of every body, and F that it asks for with all that it carries: by body, (6, 1) each. The
    efforts (n, 1) are those of the modules, in their order.
    """

    accelerations: Mapping[int, SX]
    wrenches: Mapping[int, SX]
    efforts: SX


class Manipulator:
    """The modules of a manipulator in motion, and the recursions over them.

    Attributes
    ----------
    modules : from the base to the tools, in the order of the clusters.
    coordinates : of each module among those of the robot.
    twists : V of every body (6, 1). transforms : X_i from its parent (6, 6).
    inertias, biases : I_i and p_i.
    """

    def __init__(self, study: Study, v: SX | None = None) -> None:
        system, v = study.system, study.v if v is None else v
        self.bodies, self._rotors = system.tree.bodies, acting(system.tree, "armature")
        self.rest = {WORLD: ca.vertcat(SX.zeros(3), constant(-study.gravity))}
        self.twists: dict[int, SX] = {WORLD: SX.zeros(6)}
        self.inertias = [inertia_matrix(body) for body in self.bodies]
        self.biases: list[SX] = [SX.zeros(6) for _ in self.bodies]
        self.transforms: dict[int, SX] = {}
        self.modules: list[Module] = []
        self.coordinates: list[int] = []
        triangles = triangles_of(system)
        for cluster in system.clusters:
            triangle = triangles.get(cluster)
            driver = cluster.bodies[0] if triangle is None else triangle.rod
            place = system.coordinates.v.index(self.bodies[driver].v.start)
            x, xd = study.q[place], v[place]
            made = self._joint(driver, x, xd) if triangle is None else self._loop(triangle, x, xd)
            self.coordinates.append(place)
            self.modules.append(made)

    def _joint(self, k: int, x: SX, xd: SX) -> Module:
        """A joint of one degree of freedom."""
        joint, rate = joint_motion(self.bodies[k], x), (SX(1), SX(0))
        X, S, drift = self._moved(k, joint, rate, xd)

        def effort(wrenches: Mapping[int, SX], torques: Mapping[int, SX]) -> SX:
            return S.T @ wrenches[k] + torques[k]

        return Module(k, self.bodies[k].parent, {k: (X, S, drift)}, {k: rate}, effort)

    def _loop(self, triangle: Triangle, x: SX, xd: SX) -> Module:
        """A loop of an upper link and a cylinder."""
        upper, barrel, rod = triangle.upper, triangle.barrel, triangle.rod
        loop = CylinderLoop(triangle, x, xd)
        joints, turned = loop.joints(self.bodies, x), loop.rates()
        motions = {}
        for k in (upper, barrel):
            X, S, drift = self._moved(k, joints[k], turned[k], xd)
            motions[k] = X, S * turned[k][0], drift
        X, S, drift = self._moved(rod, joints[rod], turned[rod], xd)
        X_C, a_C, d_C = motions[barrel]
        motions[rod] = X @ X_C, X @ a_C + S, X @ d_C + drift  # (30)

        def moments(wrenches: Mapping[int, SX], torques: Mapping[int, SX]) -> tuple[SX, SX]:
            about_A = wrenches[barrel] + X.T @ wrenches[rod]
            return (
                wrenches[upper][2, :] + torques[upper],
                triangle.barrel_side * (about_A[2, :] + torques[barrel]),
            )

        def effort(wrenches: Mapping[int, SX], torques: Mapping[int, SX]) -> SX:
            along = triangle.outward * (S.T @ wrenches[rod] + torques[rod])
            return triangle.outward * loop.force(*moments(wrenches, torques), along)

        def pin(wrenches: Mapping[int, SX], torques: Mapping[int, SX]) -> SX:
            phi_x, phi_y = loop.pin_force(*moments(wrenches, torques))
            along = triangle.outward * (X[:3, :3].T @ S[3:])
            across = ca.vertcat(-along[1], along[0], 0) * triangle.barrel_side
            force = along * phi_x + across * phi_y
            return ca.vertcat(ca.cross(loop.c * along, force), force)

        return Module(rod, triangle.base, motions, turned, effort, loop, pin)

    def _moved(self, k: int, joint: JointMotion, rate: tuple[SX, SX], xd: SX) -> tuple[SX, SX, SX]:
        """X and S of a body, and what its acceleration has besides X Vd_j and S rate xdd."""
        X, S = motion_transform(joint), ca.vertcat(joint.angular, joint.linear)
        self.transforms[k] = X
        turning = S * (rate[0] * xd)
        self.twists[k] = V = X @ self.twists[self.bodies[k].parent] + turning  # (6)
        self.biases[k] = -ad(V).T @ (self.inertias[k] @ V)  # (12)
        return X, S, S * rate[1] + ad(V) @ turning  # (9), (10)

    def _rotor(self, k: int, acceleration: SX) -> SX:
        return self._rotors[self.bodies[k].v] * acceleration

    def inverse(self, a: SX) -> Required:
        """Inverse dynamics: the motion at accelerations (nv, 1) of the coordinates."""
        accelerations = dict(self.rest)
        for module, place in zip(self.modules, self.coordinates, strict=True):
            for k, (X, screw, drift) in module.motions.items():
                accelerations[k] = X @ accelerations[module.base] + screw * a[place] + drift  # (9)
        return Required(accelerations, *self.carried(self.net(accelerations), self.turning(a)))

    def net(self, accelerations: Mapping[int, SX]) -> dict[int, SX]:
        """The wrench that each body asks for at its acceleration, without what it carries (11)."""
        pairs = enumerate(zip(self.inertias, self.biases, strict=True))
        return {k: inertia @ accelerations[k] + bias for k, (inertia, bias) in pairs}

    def turning(self, a: SX) -> dict[int, SX]:
        """By body the torque that the rotor in its joint asks for."""
        pairs = zip(self.modules, self.coordinates, strict=True)
        return {
            k: self._rotor(k, rate * a[place] + drift)
            for module, place in pairs
            for k, (rate, drift) in module.turned.items()
        }

    def carried(self, net: Mapping[int, SX], torques: Mapping[int, SX]) -> tuple[dict[int, SX], SX]:
        """Wrenches of bodies with all that they carry, and the efforts of the modules."""
        wrenches, efforts = dict(net), SX(len(self.modules), 1)
        for n, module in reversed(list(enumerate(self.modules))):
            efforts[n] = module.effort(wrenches, torques)
            if module.base != WORLD:
                at_base = (X.T @ wrenches[k] for k, (X, _, _) in module.motions.items())
                wrenches[module.base] += sum(at_base, SX(0))  # (15), (38), (40)
        return wrenches, ca.densify(efforts)

    def assemblies(self, efforts: SX) -> list[ModuleDynamics]:
        """The modules assembled from the tools to the base, under their efforts (n, 1)."""
        inertias, biases = list(self.inertias), list(self.biases)
        made: list[ModuleDynamics] = []
        for n, module in reversed(list(enumerate(self.modules))):
            by_base, by_drive, left = {}, {}, {}
            for k, (X, screw, drift) in module.motions.items():
                by_base[k], by_drive[k] = inertias[k] @ X, inertias[k] @ screw
                left[k] = inertias[k] @ drift + biases[k]
            turned = module.turned.items()
            mu = module.effort(by_drive, {k: self._rotor(k, rate) for k, (rate, _) in turned})
            b = module.effort(by_base, {k: SX(1, 6) for k in by_base}).T  # (42)
            beta_0 = module.effort(left, {k: self._rotor(k, drift) for k, (_, drift) in turned})
            inertia, bias, free = SX.zeros(6, 6), SX.zeros(6), (efforts[n] - beta_0) / mu
            for k, (X, _, _) in module.motions.items():  # (47) to (49)
                inertia += X.T @ (by_base[k] - by_drive[k] @ (b / mu).T)
                bias += X.T @ (left[k] + by_drive[k] * free)
            made.append(ModuleDynamics(mu, b, beta_0, inertia, bias))
            if module.base != WORLD:
                inertias[module.base] = inertias[module.base] + inertia  # (20) to (24)
                biases[module.base] = biases[module.base] + bias
        return made[::-1]

    def forward(self, efforts: SX) -> SX:
        """Accelerations (n, 1) of the modules, in their order, under their efforts."""
        accelerations, result = dict(self.rest), SX(len(self.modules), 1)
        pairs = zip(self.modules, self.assemblies(efforts), strict=True)
        for n, (module, made) in enumerate(pairs):
            Vd_B = accelerations[module.base]
            result[n] = xdd = (efforts[n] - ca.dot(made.b, Vd_B) - made.beta_0) / made.mu  # (46)
            for k, (X, screw, drift) in module.motions.items():
                accelerations[k] = X @ Vd_B + screw * xdd + drift
        return ca.densify(result)


def motion_transform(joint: JointMotion) -> SX:
    """X (6, 6) of twists from a body's parent to the body."""
    rotation = joint.transform.turned(SX.eye(3)).T
    return ca.blockcat([[rotation, SX(3, 3)], [-rotation @ skew(joint.transform.shift), rotation]])


def inverse(X: SX) -> SX:
    """X (6, 6) of twists the other way."""
    rotation = X[:3, :3]
    return ca.blockcat([[rotation.T, SX(3, 3)], [-rotation.T @ X[3:, :3] @ rotation.T, rotation.T]])


def ad(V: SX) -> SX:
    """The Lie bracket with a twist (6, 6)."""
    w, v = skew(V[:3]), skew(V[3:])
    return ca.blockcat([[w, SX(3, 3)], [v, w]])


def inertia_matrix(body: Body) -> SX:
    """I (6, 6) of a body about the origin of its frame."""
    mass, first = body.inertia.mass, skew(constant(body.inertia.first))
    second = constant(body.inertia.second)
    return ca.blockcat([[second, first], [first.T, mass * SX.eye(3)]])


def triangles_of(system: System) -> dict[Cluster, Triangle]:
    """The loops of upper links and cylinders, by cluster."""
    found = ((one.cluster, Triangle.of(system, one)) for one in system.linkages)
    return {cluster: one for cluster, one in found if one is not None}


def is_parallel_serial(study: Study) -> bool:
    """Whether loops of upper links and cylinders, at least one, and single joints make it."""
    system = study.system
    loops, coordinates = triangles_of(system), system.coordinates
    single = all(body.motion.nv == 1 for body in system.tree.bodies)
    known = all(one in loops for one in system.clusters if one.constrained)
    return bool(loops) and single and known and set(coordinates.effort) == set(coordinates.v)


def _in_order(manipulator: Manipulator, places: Sequence[int], numbers: SX) -> SX:
    """Numbers of the modules in another order of the coordinates."""
    return numbers[[manipulator.coordinates.index(place) for place in places]]


@formulation("inverse_dynamics", "parallel-serial modules", applies=is_parallel_serial)
def _efforts(study: Study) -> SX:
    coordinates, manipulator = study.system.coordinates, Manipulator(study)
    places = [coordinates.v.index(row) for row in coordinates.effort]
    return _in_order(manipulator, places, manipulator.inverse(study.a).efforts)


@formulation("forward_dynamics", "parallel-serial modules", applies=is_parallel_serial)
def _accelerations(study: Study) -> SX:
    coordinates, manipulator = study.system.coordinates, Manipulator(study)
    given = [coordinates.effort.index(coordinates.v[k]) for k in manipulator.coordinates]
    found = manipulator.forward(study.effort[given])
    return _in_order(manipulator, range(len(coordinates.v)), found)
