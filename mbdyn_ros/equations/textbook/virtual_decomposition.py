"""Virtual decomposition of parallel-serial machines, body by body (Zhu; Petrovic and Mattila).

Zhu, Virtual Decomposition Control (2010); Koivumaki and Mattila for hydraulic machines with closed
chains; Petrovic and Mattila (2022), who find the cylinder's force by Cramer's rule, as (57) to (61)
of `parallel_serial`, whose symbols these are. The drivers are required to move at v_r = w + L e,
with s = v_r - v, and the machine is cut at its joints. From the base to the tools, every body is
required to move at

    V_r = X V_r,B + a v_r

and asks for the net wrench

    F*_r = I Vd_r + p_r + k I (V_r - V).

From the tools to the base, wrenches at the cuts add up, those of the passive pins by (57), and the
drivers give

    f_r = (35) of the F*_r,  and  K s.

What is quadratic in velocities (d, p) is taken in its polar form, linear in v and in v_r alike:
that is what makes the sum over the bodies C(q, v) v_r of Christoffel's symbols, and the efforts
those of `control_laws.virtual_decomposition`.

With F* and F that the machine really has, the virtual power flow into a body at its cut is

    p = (V_r - V)^T (F_r - F).

Those at the two sides of a passive pin cancel, those at the two sides of a driver differ by
s (f_r - f), and what flows into a body is (V_r - V)^T (F*_r - F*): so the sum of the bodies is
stable where each body and each driver is (Zhu's theorem 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import casadi as ca

from ..algebra.spatial import SX
from ..formulation import Study
from .parallel_serial import Manipulator, inverse


@dataclass(frozen=True)
class Cut:
    """Where two bodies meet: the wrench (6, 1) of one on the other, in axes of the other.

    inner, outer : bodies. transform : X (6, 6) of twists of the inner one to the outer one.
    """

    inner: int
    outer: int
    transform: SX
    wrench: SX

    def flows(self, slips: Mapping[int, SX]) -> tuple[SX, SX]:
        """The virtual power that leaves the inner body, and the one that enters the outer one."""
        before = self.transform @ slips[self.inner]
        return ca.dot(before, self.wrench), ca.dot(slips[self.outer], self.wrench)


@dataclass(frozen=True)
class Led:
    """Net wrenches (6, 1) of bodies and what follows from them.

    net : F* by body. torques : of rotors, by body. wrenches : F with all that the body carries.
    efforts (n, 1) : of the modules, in their order.
    """

    net: Mapping[int, SX]
    torques: Mapping[int, SX]
    wrenches: Mapping[int, SX]
    efforts: SX

    @classmethod
    def by(cls, manipulator: Manipulator, net: Mapping[int, SX], torques: Mapping[int, SX]) -> Led:
        """Wrenches and efforts of a machine for the net wrenches of its bodies."""
        return cls(net, torques, *manipulator.carried(net, torques))


class VirtualDecomposition:
    """The bodies of a machine, led to required velocities and accelerations of the drivers.

    Attributes
    ----------
    machine : at the velocities that it has. required : V_r (6, 1) of every body. slips : V_r - V.
    asked : F*_r and F_r. given : F* and F, where the drivers move at accelerations a.
    efforts : of the modules, in their order, with K s.
    """

    def __init__(self, study: Study, v_r: SX, a_r: SX, body_rate: SX, damping: SX) -> None:
        v, rest = study.v, SX.zeros(study.v.shape[0])
        self.machine, s = Manipulator(study), v_r - v
        self.required = Manipulator(study, v_r).twists
        self.slips = {k: self.required[k] - V for k, V in self.machine.twists.items()}

        still, (net, torques) = Manipulator(study, rest), _bodies(study, rest, a_r)
        (ahead, turned), (behind, back) = (_bodies(study, one, rest) for one in (v + v_r, v - v_r))
        for k in net:
            slip = body_rate * (still.inertias[k] @ self.slips[k])
            net[k] = net[k] + (ahead[k] - behind[k]) / 4 + slip
        for k, slip in still.turning(body_rate * s).items():
            torques[k] = torques[k] + (turned[k] - back[k]) / 4 + slip
        self.asked = Led.by(self.machine, net, torques)
        self.efforts = self.asked.efforts + (damping * s)[self.machine.coordinates]
        self.given = Led.by(self.machine, *_bodies(study, v, study.a))

    def cuts(self, n: int, led: Led) -> Iterator[Cut]:
        """Those of a module: before each of its bodies, and at P of a loop from R to U."""
        module = self.machine.modules[n]
        if module.pin is None:
            ((k, (X, _, _)),) = module.motions.items()
            yield Cut(module.base, k, X, led.wrenches[k])
            return
        upper, barrel, rod = module.motions
        X_U, X_C = (module.motions[k][0] for k in (upper, barrel))
        X_R = self.machine.transforms[rod]
        from_upper, from_rod = X_C @ inverse(X_U), inverse(X_R)
        phi = module.pin(led.wrenches, led.torques)
        on_upper = from_upper.T @ phi
        carried = led.wrenches[barrel] + X_R.T @ led.wrenches[rod]
        yield Cut(module.base, upper, X_U, led.wrenches[upper] - on_upper)
        yield Cut(module.base, barrel, X_C, carried + phi)
        yield Cut(barrel, rod, X_R, led.wrenches[rod] + from_rod.T @ phi)
        yield Cut(rod, upper, inverse(from_upper) @ from_rod, on_upper)


def _bodies(study: Study, v: SX, a: SX) -> tuple[dict[int, SX], dict[int, SX]]:
    """F* of every body and torques of rotors, at velocities and accelerations of the drivers."""
    machine = Manipulator(study, v)
    return machine.net(machine.inverse(a).accelerations), machine.turning(a)
