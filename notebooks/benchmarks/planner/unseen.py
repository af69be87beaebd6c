"""Rows of published curves that no prediction is from: errors by p, and intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.model.sharpness import p_norm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from notebooks.benchmarks.planner.published import Curve

SHARPNESSES = (4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 14.0, 16.0)
"""Values of p that are compared."""


@dataclass(frozen=True, kw_only=True)
class UnseenRow:
    """One published row beside what is predicted of it."""

    curve: str
    """Whose it is."""

    nodes: int
    """Data instances."""

    measured_s: float
    """Published seconds."""

    predicted_s: float
    """Predicted seconds."""

    low_s: float
    """Lower end of the 80 % interval in seconds."""

    high_s: float
    """Upper end of the 80 % interval in seconds."""

    narrow_low_s: float
    """Lower end of the interval that the calibrated machine would have."""

    narrow_high_s: float
    """Upper end of that."""

    bottleneck: str
    """Predicted."""

    @property
    def error_percent(self) -> float:
        """(predicted - published) / published."""
        return 100 * (self.predicted_s / self.measured_s - 1)

    @property
    def is_inside(self) -> bool:
        """Whether the 80 % interval holds the published row."""
        return self.low_s <= self.measured_s <= self.high_s

    @property
    def is_inside_narrow(self) -> bool:
        """Whether the interval of the calibrated machine would hold it, too."""
        return self.narrow_low_s <= self.measured_s <= self.narrow_high_s


def errors_by_p(curve: Curve, sharpnesses: Sequence[float] = SHARPNESSES) -> list[float]:
    """Return the mean error of a curve's unseen rows near the knee for each p, in percent."""
    rows = [row for row in curve.unseen if curve.is_near(row[0])]
    stages_s = np.array([[curve.data_s(nodes), curve.device_s] for nodes, _ in rows])
    measured_s = np.array([time_s for _, time_s in rows])
    return [
        float(100 * np.mean(np.abs(p_norm(stages_s, np.array(1 / p)) / measured_s - 1)))
        for p in sharpnesses
    ]


def left_out(curves: Sequence[Curve]) -> dict[str, tuple[float, float]]:
    """Return p as all other curves choose it, and each curve's mean error with it in percent.

    They choose the p of the least mean of their own mean errors.
    """
    errors = {curve.name: np.array(errors_by_p(curve)) for curve in curves}
    found = {}
    for name, own in errors.items():
        others = np.mean([each for other, each in errors.items() if other != name], axis=0)
        place = int(np.argmin(others))
        found[name] = (SHARPNESSES[place], float(own[place]))
    return found


def unseen_rows(curves: Iterable[Curve]) -> list[UnseenRow]:
    """Return every unseen row near the knee, with its prediction."""
    found = []
    for curve in curves:
        calibration = curve.calibration()
        for nodes, measured_s in curve.unseen:
            if not curve.is_near(nodes):
                continue
            said = predict(calibration, curve.setup(nodes))
            step = said.step_time_s
            here = replace(curve.setup(nodes), has_quotas=True)
            narrow = predict(calibration, here).step_time_s
            row = UnseenRow(
                curve=curve.name,
                nodes=nodes,
                measured_s=measured_s,
                predicted_s=step.mean,
                low_s=step.low,
                high_s=step.high,
                narrow_low_s=narrow.low,
                narrow_high_s=narrow.high,
                bottleneck=said.bottleneck,
            )
            found.append(row)
    return found


def rows_as_json(rows: Sequence[UnseenRow]) -> list[dict[str, Any]]:
    """Return rows to keep."""
    return [asdict(row) for row in rows]


def rows_from_json(rows: Iterable[Mapping[str, Any]]) -> list[UnseenRow]:
    """Return the rows that were kept."""
    return [UnseenRow(**row) for row in rows]


def unseen_figures(rows: Sequence[UnseenRow]) -> list[BenchFigure]:
    """Return errors and intervals of the rows, which are all that they come from."""
    errors = [row.error_percent for row in rows]
    sizes = [abs(error) for error in errors]
    nine_of_ten = float(np.percentile(sizes, 90))
    inside = sum(row.is_inside for row in rows) / len(rows)
    narrow = sum(row.is_inside_narrow for row in rows) / len(rows)
    held = "80 % intervals that hold the row"
    return [
        bench_figure("published rows", [len(rows)], unit="rows", better="higher"),
        bench_figure("error of a row, median", sizes, unit="%", better="lower", goal=8),
        bench_figure(
            "error of a row, 90th percentile", [nine_of_ten], unit="%", better="lower", goal=15
        ),
        bench_figure("bias of a row, median", errors, unit="%", better="lower"),
        bench_figure(held, [inside], unit="share", better="higher", goal=0.75),
        bench_figure(f"{held}, not too wide", [inside], unit="share", better="lower", goal=0.9),
        bench_figure(
            f"{held}, those of the calibrated machine", [narrow], unit="share", better="higher"
        ),
    ]
