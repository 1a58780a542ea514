"""Disk cams: profile, pressure angle and curvature from the law of motion of the follower.

The follower is a slide or an arm on the ground. With R(theta) from the cam's axle to the centre of
the roller, the pitch curve in the cam's axes is R e^(-i theta), and R + i R' is its normal: it goes
through the instant centre of cam and follower. A flat face has the displacement h of its foot from
the axle as support function, so that the radius of curvature is h + h''.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from ..array import Array
from .cam_law import MotionLaw
from .link import Number, Point, Points

TURN_ANGLES = 720
"""Angles of the cam over a turn at which it is looked at, besides the ends of segments."""

AROUND_ENDS = 1e-9
"""Angle, rad, from the end of a segment on either side, where the acceleration may jump."""

WIDER = np.geomspace(1.0, 32.0, 241)
"""Factors by which a larger base circle is looked for."""

OF_ARMS = {"lift": "swing", "stiffness": "torsion_rate", "preload": "preload_moment"}
"""Ends of the names of settings of followers that turn, where they are others than of slides."""


@dataclass(frozen=True, eq=False)
class DiskCam:
    """A disk cam with its follower, in contact all along.

    cam, follower : names of the parts. law : of the follower, over one turn of the cam.
    flat : whether the follower has a flat face across its slide, else a roller or a knife edge.
    across : of a slide, whether it goes along y. arm : m, of a follower that turns, from its pivot
        to the roller; None: it slides.
    axle, foot : of the cam, and of the slide or the arm's pivot, on the ground, m.
    side : 1 where a rise lets the slide or the arm's angle grow, else -1.
    base_radius : m, of the circle that the profile touches at displacement 0.
    lift : largest displacement, m or rad.
    stiffness, preload : of a spring on the follower, N/m or N m/rad, and what presses it on the
        cam at displacement 0, N or N m.
    roller_radius : m; 0: a knife edge.
    pressure_limit : deg, of the pressure angle where the follower rises.
    """

    cam: str
    follower: str
    law: MotionLaw
    flat: bool
    across: bool
    arm: Number | None
    axle: Point
    foot: Point
    side: int
    base_radius: Number
    lift: Number
    stiffness: Number
    preload: Number
    roller_radius: Number = 0.0
    pressure_limit: Number = 90.0

    @property
    def name(self) -> str:
        """Name of the contact."""
        return f"{self.cam}_{self.follower}_contact"

    @property
    def parts(self) -> tuple[str, str]:
        """The part that pushes, and the one that is pushed."""
        return self.cam, self.follower

    @property
    def spring_settings(self) -> tuple[str, str]:
        """Names of the settings that are the spring's stiffness and preload."""
        ends = {} if self.arm is None else OF_ARMS
        stiffness, preload = (ends.get(one, one) for one in ("stiffness", "preload"))
        return f"{self.cam}_{stiffness}", f"{self.cam}_{preload}"

    def _from_axle(self) -> Any:
        """The foot, seen from the axle, x + i y."""
        return complex(0, 1) * (self.foot[1] - self.axle[1]) + (self.foot[0] - self.axle[0])

    def _direction(self) -> complex:
        """The axis of the slide."""
        return 1j if self.across else 1.0

    @functools.cached_property
    def _start(self) -> Array:
        """The position of the follower's joint at displacement 0, m or rad; NaN where the base
        circle is out of its reach."""
        prime, foot = self.base_radius + self.roller_radius, self._from_axle()
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            if self.arm is not None:
                apart = np.abs(foot)
                cosine = (apart**2 + self.arm**2 - prime**2) / (2 * apart * self.arm)
                return np.angle(-foot) + self.side * np.arccos(cosine)
            seen = foot * np.conj(self._direction())
            far = prime if self.flat else np.sqrt(prime**2 - seen.imag**2)
            return self.side * far - seen.real

    def motion(self, angle: Array) -> tuple[Array, Array, Array]:
        """Position of the follower's joint (m or rad) at angles of the cam, and its first and
        second derivative by the angle."""
        share = self.side * self.lift / self.law.lift
        s, ds, dds, _ = self.law(angle)
        return self._start + share * s, share * ds, share * dds

    def coefficients(self, angle: Array) -> list[Array]:
        """The parabola c0 + c1 q + c2 q^2 that osculates the follower's motion at angles q of the
        cam, and the spring: its stiffness and where it is slack.

        Dynamics depend on nothing else of a law.
        """
        z, dz, ddz = self.motion(angle)
        c1 = dz - ddz * angle
        return [z - (c1 + dz) * angle / 2, c1, ddz / 2, self.stiffness, self._slack]

    @property
    def _slack(self) -> Array:
        """Where the follower's spring is slack, m or rad."""
        pull = self.side * self.preload / np.where(self.stiffness == 0, 1.0, self.stiffness)
        slack: Array = self._start - pull
        return slack

    def spring_effort(self, place: Array) -> Array:
        """The effort of the spring on the follower's joint at a place, N or N m."""
        effort: Array = self.stiffness * (self._slack - place)
        return effort

    # -- contact ---------------------------------------------------------------------------------

    def _centre(self, angle: Array) -> tuple[Points, Points, Points, Points]:
        """R from the axle to the roller's centre (or to the foot of a flat face), R', R'', and
        `rise`."""
        z, dz, ddz = self.motion(angle)
        foot = self._from_axle()
        if self.arm is None:
            u: Any = self._direction() + 0 * dz
            if self.flat:
                foot = u * (foot * np.conj(u)).real
            centre, slope, bend = foot + u * z, u, 0.0
        else:
            u = 1j * np.exp(1j * z)
            slope = self.arm * u
            centre, bend = foot - 1j * slope, 1j * slope
        return centre, slope * dz, slope * ddz + bend * dz**2, self.side * u

    def rise(self, angle: Array) -> Points:
        """The direction (...) in which the follower's roller rises, x + i y."""
        return self._centre(angle)[3]

    def pressure_angle(self, angle: Array) -> Array:
        """Angle from the follower's motion, in rising, to the force on it, rad, at angles of the
        cam."""
        if self.flat:
            return np.zeros(np.shape(angle))
        centre, rate, _, rise = self._centre(angle)
        return np.angle((centre + 1j * rate) * np.conj(rise))

    def curvature_radius(self, angle: Array) -> Array:
        """Radius of curvature of the pitch curve, or of a flat face's profile, at angles of the
        cam, m; negative where it is concave."""
        centre, rate, second, rise = self._centre(angle)
        if self.flat:
            along: Array = ((centre + second) * np.conj(rise)).real
            return along
        tangent, bend = rate - 1j * centre, second - 2j * rate - centre
        with np.errstate(divide="ignore"):
            radius: Array = -(np.abs(tangent) ** 3) / (np.conj(tangent) * bend).imag
        return radius

    def profile(self, angle: Array) -> Points:
        """The point of contact (...) at angles of the cam, x + i y in its axes, m: the profile."""
        centre, rate, _, _ = self._centre(angle)
        if self.flat:
            touching = centre - 1j * rate
        else:
            normal = centre + 1j * rate
            touching = centre - self.roller_radius * normal / np.abs(normal)
        return touching * np.exp(-1j * angle)

    def on_face(self, angle: Array) -> Array:
        """Place of the contact on a flat face, along the follower's y axis, m."""
        return -self.motion(angle)[1]

    def outline(self, part: str, angles: Array) -> list[Point]:
        """Points in the axes of the cam or its follower, to draw it, at these angles round the cam
        or the roller: a spoke and the profile; a stem or arm, and the roller or the flat face."""
        if part == self.cam:
            edge = self.profile(angles)
            return [(0.0, 0.0), *((one.real, one.imag) for one in edge.tolist())]
        if self.arm is not None:
            start, centre, back = (0.0, 0.0), self.arm, -1.0
        else:
            start, centre, back = (self.side * 1.5 * self.base_radius, 0.0), 0.0, float(self.side)
        if self.flat:
            swept = 1.2 * self.on_face(self.angles)
            ends = float(swept.max()), float(swept.min())
            return [start, (0.0, 0.0), (0.0, ends[0]), (0.0, ends[1]), (0.0, 0.0)]
        rim = centre + back * self.roller_radius * np.exp(1j * angles)
        return [start, (centre, 0.0), *((one.real, one.imag) for one in rim.tolist())]

    # -- faults ----------------------------------------------------------------------------------

    @functools.cached_property
    def angles(self) -> Array:
        """Angles (K,) over a turn, the ends of segments on both sides among them, rad."""
        ends = np.array(self.law.starts)
        even = np.linspace(0, 2 * np.pi, TURN_ANGLES, endpoint=False)
        return np.unique(np.concatenate([even, ends[1:] - AROUND_ENDS, ends[:-1] + AROUND_ENDS]))

    def faults(self) -> tuple[Array, Array, Array]:
        """Measures that are above zero where the cam cannot work: out of reach (...), jams and
        undercuts, (K, ...) at `angles`; of many designs whose numbers are arrays (...)."""
        numbers = self._start, self.roller_radius, self.lift, self.pressure_limit
        shape = np.broadcast_shapes(*map(np.shape, numbers))
        angle = self.angles.reshape(-1, *[1] * len(shape))
        start = np.isnan(self._start)
        if self.arm is not None:
            turned = np.abs(self._start - np.angle(-self._from_axle())) + self.lift
            start = start | (turned >= np.pi)
        rising = self.side * self.motion(angle)[1] > 0
        with np.errstate(invalid="ignore"):
            steep = np.abs(np.degrees(self.pressure_angle(angle))) - self.pressure_limit
            radius = self.curvature_radius(angle)
            cut = -radius if self.flat else self.roller_radius / radius - 1
        return np.where(start, 1.0, 0.0), np.where(rising, steep, -1.0), cut

    @functools.cached_property
    def is_sound(self) -> Any:
        """Whether it can work (...)."""
        reach, jam, cut = self.faults()
        return (reach <= 0) & (jam <= 0).all(axis=0) & (cut < 0).all(axis=0)

    @functools.cached_property
    def problem(self) -> str | None:
        """The reason why it cannot work, in words with a remedy; None of a sound one."""
        if self.preload and not self.stiffness:
            stiffness, preload = self.spring_settings
            return f"{preload} needs a spring; give {stiffness} above zero"
        if self.is_sound:
            return None
        reach, jam, cut = self.faults()
        prime = self.base_radius + self.roller_radius
        if reach > 0:
            if self.arm is None:
                offset = abs((self._from_axle() * np.conj(self._direction())).imag)
                return (
                    f"the {self.follower} passes the {self.cam}'s axle at {offset:g} m, beyond its "
                    f"base circle and roller ({prime:g} m); take a smaller offset"
                )
            return (
                f"the arm of the {self.follower} ({self.arm:g} m) on its pivot, "
                f"{abs(self._from_axle()):g} m from the {self.cam}'s axle, cannot follow from "
                f"{prime:g} m on by {self.lift:g} rad; change the arm or the base circle"
            )
        if (jam > 0).any():
            worst = int(np.argmax(jam))
            found = abs(math.degrees(float(self.pressure_angle(self.angles[worst]))))
            other = "another pivot" if self.arm is not None else "another offset"
            return (
                f"the {self.follower} jams: the pressure angle is {found:.4g} deg with the "
                f"{self.cam} at {self._degrees(worst)} deg, above the limit of "
                f"{self.pressure_limit:g} deg; {self._remedy(other, 'a longer rise')}"
            )
        worst = int(np.argmax(cut))
        radius = float(self.curvature_radius(self.angles[worst]))
        where = f"with the {self.cam} at {self._degrees(worst)} deg"
        if self.flat:
            return (
                f"the flat face undercuts the {self.cam}: the radius of curvature of the profile "
                f"is {radius:.4g} m {where}, and it must be convex; "
                f"{self._remedy('a law of less acceleration')}"
            )
        return (
            f"the roller undercuts the {self.cam}: the radius of curvature of the pitch curve is "
            f"{radius:.4g} m {where}, not above the roller's {self.roller_radius:g} m; "
            f"{self._remedy('a smaller roller')}"
        )

    def _degrees(self, k: int) -> str:
        return f"{math.degrees(self.angles[k]):.4g}"

    def _remedy(self, *others: str) -> str:
        """Words about remedies: the least base circle, of those tried, that is enough, if any."""
        wider = (float(f"{self.base_radius * factor:.3g}") for factor in WIDER)
        enough = (one for one in wider if replace(self, base_radius=one).is_sound)
        circles = [f"a larger base circle ({one:g} m is enough)" for one in islice(enough, 1)]
        *before, last = *circles, *others
        return f"take {', '.join(before)}{' or ' if before else ''}{last}"
