"""A robot that a machine's recordings agree with: inertias, drives and lean, and a verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..array import Array
from ..errors import InputError, brief
from ..recording.conditioning import Motion, conditioned
from ..recording.measured import Recording
from ..robot import Robot, checked_robot
from .consistent import consistent
from .evidence import HUBER, Evidence, estimated, lasting_noise, solved, undetermined
from .identified import Identification, identified_robot
from .linear_form import GAINS, LinearForm, Rows, massive_links
from .soundness import doubts, require_agreeing, require_moving, unlike
from .verdict import Verdict, judged

EARNED = 0.05
"""Share of the unseen squares that a part of the model must take away to stay."""

COUPLED = 0.1
"""The same of what only a recording shows: shared shafts and pins."""

OF_BLOCKS = 0.34
"""Quantile of the blocks' shares that must be enough too: one block alone may be chance."""

UNSEEN = 0.3
"""Share at the end of every recording that is held out where no other recording is."""

LEANINGS, DELAYS = 3, 2
"""Rounds in which inertias and lean, or inertias and delay, are found in turns."""

GAIN_ROUNDS, SETTLED_GAIN = 20, 0.01
"""Rounds in which unknown gains are found at most, and the share at which they have settled."""

CERTAIN_GAIN = 0.5
"""Deviation over a gain up to which a payload may be found by its efforts."""

NOTICED_DELAY, CERTAIN_DELAY = 0.3, 5.0
"""Delay, in samples and in its standard deviations, from which it is corrected."""


@brief
def identify_machine(
    robot: Robot,
    recordings: Sequence[Recording],
    test: Sequence[Recording] = (),
    cutoff: float = 0.0,
) -> Identification:
    """Inertias, drives and lean of a machine from its recordings, judged on rows held out.

    Parameters
    ----------
    recordings : of `read_recording`. test : those held out; by default the last 30 % of each.
    cutoff : Hz of the zero-phase filter; 0: as the motion asks for.

    Raises
    ------
    InputError
        A recording does not move a joint, or its efforts cannot be those of this robot: by joint,
        with the number.
    """
    checked_robot(robot)
    motions = [conditioned(robot, one, cutoff) for one in recordings]
    cutoff = max(one.cutoff for one in motions)
    motions = [one if one.cutoff == cutoff else conditioned(robot, recordings[k], cutoff)
               for k, one in enumerate(motions)]  # fmt: skip
    unseen = [conditioned(robot, one, cutoff) for one in test]
    remarks = list(dict.fromkeys(
        text for one in (*recordings, *test) for text in one.remarks
    ))  # fmt: skip
    remarks += doubts(robot, recordings)
    remarks += dict.fromkeys(text for one in (*motions, *unseen) for text in one.remarks)
    if not test:
        cuts = [round((1 - UNSEEN) * len(one.time)) for one in motions]
        unseen = [one.rows(slice(cut, None)) for one, cut in zip(motions, cuts, strict=True)]
        motions = [one.rows(slice(0, cut)) for one, cut in zip(motions, cuts, strict=True)]
        remarks.append(f"the last {UNSEEN:.0%} of every recording are held out for the verdict")
    search = Search(robot, motions, recordings)
    search.run(remarks)
    return search.result(unseen, cutoff, remarks)


class Search:
    """The search for the parts of a model and their parameters, by motions of recordings."""

    def __init__(
        self, robot: Robot, motions: Sequence[Motion], recordings: Sequence[Recording]
    ) -> None:
        self.robot = robot
        unknown = dict.fromkeys(name for one in recordings for name in one.unknown_gains)
        self.form = LinearForm(robot, motions, tuple(unknown))
        self.lean, self.delay = np.zeros(2), 0.0
        self.x = np.zeros(len(self.form.columns))
        self.x[: len(self.form.base.standard)] = self.form.base.standard
        self.gains = np.ones(len(robot.effort_labels))
        self.chosen = self.form.of_part("inertia") + self.form.of_part("drives")
        self.brings: dict[str, float] = {}
        self.noise = np.ones(len(robot.effort_labels))

    def run(self, remarks: list[str]) -> None:
        """Choose parts, and find parameters, delay and lean."""
        form = self.form
        require_moving(self.robot, [one.motion for one in form.rows])
        rows = sum(int(one.moving.sum()) for one in form.rows)
        if rows < 2 * len(self.chosen):
            raise InputError(
                f"{self.robot.model.source}: {rows} rows of efforts in motion are too few for "
                f"{len(self.chosen)} parameters; record longer"
            )
        self.gains = form.guessed_gains()
        form.rows = [one.scaled(self.gains) for one in form.rows]
        self._gather()
        require_agreeing(self.robot, form)
        if not form.scaled:
            remarks += unlike(self.robot, form)
        self._solve()
        self._find_gains()
        self._correct_delay(NOTICED_DELAY / self.form.rows[0].motion.rate)
        self._add_parts()
        if "lean" in self.brings:
            for _ in range(LEANINGS):
                self._gather()
                self._solve()
                self.lean = self.lean + self.x[form.lean]
        self._gather()
        for _ in range(DELAYS):
            self._correct_delay()
        self._drop_parts()
        if self.delay:
            when = "after" if self.delay > 0 else "before"
            remarks.append(f"efforts come {abs(self.delay) * 1e3:.2g} ms {when} positions, which "
                           "is corrected")  # fmt: skip
        self._find_gains()
        self._reweigh()
        self._solve()

    def _find_gains(self) -> None:
        """Unknown gains by Gauss's method, until they settle; those that are open stay guesses."""
        gains, scaled = self.form.gains, self.form.scaled
        for _ in range(GAIN_ROUNDS if scaled else 0):
            self.chosen = sorted({*self.chosen, *range(gains.start, gains.stop)})
            self._gather()
            self._solve()
            found = np.isfinite(self.gain_deviations())
            step = np.ones(len(self.gains))
            step[scaled] = np.clip(1 / (1 + np.clip(self.x[gains] * found, -0.5, 1.0)), 0.5, 2.0)
            self.gains *= step
            self.form.rows = [one.scaled(step) for one in self.form.rows]
            self.x[gains] = 0.0
            if np.abs(step - 1).max() < SETTLED_GAIN:
                break
        self._gather()

    def gain_deviations(self) -> Array:
        """Deviations (unknown gains,), over the gains, of white noise; infinite of open ones."""
        chosen = self._ordered()
        both = self.evidence.normal(self.noise, chosen)
        _, covariance, held = estimated(both, np.zeros(len(chosen)), self._readiness(chosen))
        deviation = np.sqrt(np.diag(covariance))
        deviation[held] = np.inf
        result: Array = deviation[len(chosen) - len(self.form.scaled) :]
        return result

    def _add_parts(self) -> None:
        """Add the part that takes most of the unseen squares away, until none earns its place."""
        form, evidence = self.form, self.evidence
        _, noise = evidence.weighted(self.chosen)
        total = float((evidence.products[:, :, -1, -1].sum(axis=0) / noise**2).sum())
        total /= float(evidence.counts.sum())
        now = evidence.unseen(noise, self.chosen)
        self.brings["inertias, friction and offsets"] = float(np.sqrt(now.sum() / total))
        waiting = [one for one in form.parts() if one not in ("inertia", "drives", GAINS)]
        while waiting:
            scores = {
                one: evidence.unseen(noise, self.chosen + form.of_part(one)) for one in waiting
            }
            best = min(scores, key=lambda one: scores[one].sum())
            if not _earns(best, now, scores[best]):
                break
            self.chosen = sorted(self.chosen + form.of_part(best))
            now = scores[best]
            self.brings[best] = float(np.sqrt(now.sum() / total))
            family = best.split(" ")[0]  # of Stribeck's speeds only one
            waiting = [one for one in waiting if one != best and
                       not (family == "Stribeck" and one.startswith(family))]  # fmt: skip

    def _drop_parts(self) -> None:
        """Drop parts that stood for delay and lean before these were known.

        Gains are left alone: their columns are what all parts predict, and would stand for each.
        """
        self.chosen = [k for k in self.chosen if self.form.columns[k].part != GAINS]
        _, noise = self.evidence.weighted(self.chosen)
        now = self.evidence.unseen(noise, self.chosen)
        while True:
            scores = {}
            for part in [one for one in self.brings if one in self.form.parts() and one != "lean"]:
                rest = [k for k in self.chosen if k not in set(self.form.of_part(part))]
                without = self.evidence.unseen(noise, rest)
                if not _earns(part, without, now):
                    scores[part] = without, rest
            if not scores:
                return
            least = min(scores, key=lambda one: scores[one][0].sum())
            now, self.chosen = scores[least]
            self.x[self.form.of_part(least)] = 0.0
            del self.brings[least]

    def _gather(self, weights: Sequence[Array] | None = None) -> None:
        """The evidence of all rows at the lean and inertias found so far."""
        form = self.form
        self.matrices = [form.matrix(one, self.lean, self.x) for one in form.rows]
        self.weights = [one.moving for one in form.rows] if weights is None else weights
        self.evidence = self._evidence(self.matrices)

    def _evidence(self, matrices: Sequence[Array]) -> Evidence:
        """That of columns (N, joints, n) of every motion."""
        given, part = [], 0
        for one, matrix, weight in zip(self.form.rows, matrices, self.weights, strict=True):
            given.append((matrix, one.motion.effort - one.known, weight, one.motion.part + part))
            part += int(one.motion.part.max()) + 1
        return Evidence.of(*(np.concatenate(one) for one in zip(*given, strict=True)))

    def _solve(self) -> None:
        """All parameters, of physically consistent inertias."""
        form, evidence = self.form, self.evidence
        _, self.noise = evidence.weighted(self.chosen)
        links = massive_links(self.robot)
        own = [k for one in links for k in range(one.start, one.stop)]
        others = [k for k in self.chosen if form.columns[k].part != "inertia"]
        normal = evidence.normal(self.noise, own + others)
        described = np.concatenate([form.base.standard[own], np.zeros(len(others))])
        if len(form.scaled) == len(self.noise):
            size = len(own)
            of_scale = self._common_scale(own, described[:size])
            normal[:size, :size] += np.outer(of_scale, of_scale)
            normal[:size, -1] += of_scale * float(np.sqrt(self.evidence.counts.sum()))
        normal[np.diag_indices(len(normal) - 1)] += self._unlikely(own, others)
        x = consistent(
            normal[:-1, :-1], normal[:-1, -1], described,
            [slice(10 * k, 10 * k + 10) for k in range(len(links))],
            np.concatenate([np.zeros(len(own), dtype=bool), form.positive[others]]),
        )  # fmt: skip
        self.x = np.zeros(len(form.columns))
        self.x[own + others] = x

    def _common_scale(self, own: list[int], described: Array) -> Array:
        """A row (n,) r that holds the scale which unknown gains of all efforts share: r.x = w.

        It is that at which the described efforts D fit those of the inertias found: D.(A x) = D.D;
        w^2 is the number of rows.
        """
        along = self.evidence.normal(np.ones_like(self.noise), own)[:-1, :-1] @ described
        weight = float(np.sqrt(self.evidence.counts.sum()))
        row: Array = weight * along / max(float(along @ described), 1e-300)
        return row

    def _unlikely(self, own: list[int], others: list[int]) -> Array:
        """Weights of drives' terms, 1 for one that makes as much effort as is likely."""
        products, columns = self.evidence.products.sum(axis=0), self.form.columns
        shares = np.einsum("jkk,j->k", products, 1 / np.maximum(products[:, -1, -1], 1e-99))
        chosen = self._ordered()
        both = self.evidence.normal(self.noise, chosen)
        held = {chosen[k] for k in undetermined(both, self._readiness(chosen))}
        likely = [UNSEEN_SHARE if k in held else LIKELY.get(columns[k].term, 1.0) for k in others]
        return np.concatenate([np.zeros(len(own)), shares[others] / np.square(likely)])

    def _reweigh(self) -> None:
        """Weights by which outliers count by their size alone (Huber 1964)."""
        weights = []
        for one, matrix in zip(self.form.rows, self.matrices, strict=True):
            left = one.motion.effort - one.known - matrix @ self.x
            weights.append(one.moving / np.maximum(np.abs(left) / (HUBER * self.noise), 1.0))
        self._gather(weights)

    def _with_delay(self, chosen: list[int], x: Array) -> list[Array]:
        """Of every motion columns (N, joints, k + 1), the chosen ones, of x (k,), and a delay's.

        Efforts that come a little later are less by what they grow meanwhile, d(A x)/dt.
        """
        found = []
        for one, matrix in zip(self.form.rows, self.matrices, strict=True):
            given = matrix[:, :, chosen]
            late = -np.gradient(one.known + given @ x, one.motion.time, axis=0)
            found.append(np.concatenate([given, late[:, :, None]], axis=2))
        return found

    def _correct_delay(self, least: float = 0.0) -> None:
        """Shift efforts by the time that they come after what positions make of them."""
        chosen = self._ordered()
        x, noise = self.evidence.weighted(chosen)
        evidence = self._evidence(self._with_delay(chosen, x))
        both = evidence.normal(noise, list(range(len(chosen) + 1)))
        products = both[-2, :-2]  # and what of the column no parameter absorbs:
        bottom = both[-2, -2] - float(solved(both[:-1, :-1]) @ products)
        delay = float(both[-2, -1] - products @ x) / max(bottom, 1e-300)
        if abs(delay) < max(least, CERTAIN_DELAY / max(bottom, 1e-300) ** 0.5):
            return
        self.delay += delay
        self.form.rows = [one.shifted(delay) for one in self.form.rows]
        self._gather()
        self._solve()

    def unexplained(self, motions: Sequence[Motion]) -> list[tuple[Rows, Array]]:
        """Rows of other motions, and the efforts (N, efforts) that the model leaves of them."""
        found = []
        for one in self.form.add(motions):
            rows = one.scaled(self.gains).shifted(self.delay)
            known = rows.known + self.form.matrix(rows, self.lean, self.x) @ self.x
            found.append((rows, rows.motion.effort - known))
        return found

    def result(
        self, unseen: Sequence[Motion], cutoff: float, remarks: list[str]
    ) -> Identification:
        """All that was found, judged."""
        form, base = self.form, self.form.base
        held = [one.scaled(self.gains).shifted(self.delay) for one in form.add(unseen)]
        found, spread = self._estimated()
        count = len(base.independent)
        deviation = spread[:count]
        open_ = tuple(name for name, one in zip(base.names, deviation, strict=True) if one != one)
        drives: dict[str, dict[str, tuple[float, float]]] = {}
        for k, own in zip(self._ordered()[count:], spread[count:], strict=True):
            column = form.columns[k]
            if column.shaft is not None:
                terms = drives.setdefault(column.shaft.name, {})
                terms[column.term] = float(self.x[k]), float(own)
        gains = {
            self.robot.effort_labels[k]: (float(self.gains[k]), float(abs(self.gains[k]) * own))
            for k, own in zip(form.scaled, spread[-len(form.scaled) :], strict=True)
        } if form.scaled else {}  # fmt: skip
        fit = self._judged(form.rows)
        verdict = self._judged(held)
        return Identification(
            self.robot_found(), base.names, base.values, found[:count], deviation, open_, drives,
            gains, self.lean, self.delay, self.brings, verdict, fit, cutoff, tuple(remarks),
        )  # fmt: skip

    def robot_found(self) -> Robot:
        """The robot with what was found."""
        return identified_robot(self.form, self.x, self.lean, set(self.brings))

    def _judged(self, rows: Sequence[Rows]) -> Verdict:
        predicted = [one.known + self.form.matrix(one, self.lean, self.x) @ self.x
                     for one in rows]  # fmt: skip
        dry = np.zeros(len(self.robot.effort_labels))
        for k in self.chosen:
            one = self.form.columns[k]
            if one.shaft is not None and one.term == "Coulomb" and self.form.shafts[0]:
                dry += np.abs(one.shaft.rates[rows[0].drives.rows]) * self.x[k]
        return judged(self.robot, rows, predicted, dry)

    def _ordered(self) -> list[int]:
        """The chosen columns, those of base parameters first."""
        base = self.form.base.independent
        return [*base, *(k for k in self.chosen if k not in set(base))]

    def _readiness(self, chosen: list[int]) -> Array:
        """By which chosen columns are held where they cannot be distinguished."""
        inertias = len(self.form.base.standard)
        return np.array([1.0 if k < inertias else DRIVES_HELD for k in chosen])

    def _estimated(self) -> tuple[Array, Array]:
        """Base parameters and those of other columns by least squares, and their deviations.

        Neighbouring residuals are not independent: of each joint the noise counts that lasts. What
        is left of the delay is one more unknown.
        """
        chosen, base = self._ordered(), self.form.base
        x, noise = self.evidence.weighted(chosen)
        columns, every = self._with_delay(chosen, x), list(range(len(chosen) + 1))
        roots = [np.sqrt(one)[:, :, None] for one in self.weights]
        left = [
            (one.motion.effort - one.known - matrix[:, :, :-1] @ x) * root[:, :, 0]
            for one, matrix, root in zip(self.form.rows, columns, roots, strict=True)
        ]
        evidence = self._evidence(columns)
        rows = [matrix * root for matrix, root in zip(columns, roots, strict=True)]
        noise = lasting_noise(rows, left, noise, evidence.normal(noise, every))
        inertial = [i for i, k in enumerate(chosen) if k < len(base.standard)]
        whole = np.eye(len(chosen), len(chosen) + 1)  # what a column of the lean was part of
        start = np.zeros(len(chosen) + 1)
        start[inertial] = base.standard[[chosen[i] for i in inertial]]
        count = len(base.independent)
        newly = inertial[count:]
        whole[:count, newly] = base.grouping[:, [chosen[i] for i in newly]]
        start[:count] = base.values - whole[:count, newly] @ start[newly]
        x, covariance, held = estimated(
            evidence.normal(noise, every), start,
            np.append(self._readiness(chosen), DRIVES_HELD),
            [np.pad(one.normal(noise, chosen)[:-1, :-1], (0, 1)) for one in self.form.blurs()],
        )  # fmt: skip
        deviation = np.sqrt(np.maximum(np.diag(whole @ covariance @ whole.T), 0.0))
        deviation[[k for k in held if k < len(chosen)]] = np.nan
        return whole @ x, deviation


DRIVES_HELD = 3.0
"""How much rather a drive's term is held than an inertia, of what cannot be distinguished."""

LIKELY, UNSEEN_SHARE = {"offset": 0.1}, 1e-3
"""Shares of an effort's size that terms of drives are likely to have, others 1; and that of a term
which the recordings do not determine, so that it is held."""


def _earns(part: str, without: Array, with_: Array) -> bool:
    """Whether a part takes enough of the unseen squares (blocks,) away: of all, and of most."""
    need = COUPLED if part.startswith(("shared", "pin")) else EARNED
    shares = (without - with_) / without
    return float(1 - with_.sum() / without.sum()) > need < float(np.quantile(shares, OF_BLOCKS))
