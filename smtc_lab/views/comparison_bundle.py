"""What a notebook keeps of a comparison: one mime bundle, legible with no kernel and no script.

``python -m smtc_lab.views.comparison_bundle FOLDER`` prints that of a comparison's folder as
JSON: a process of its own draws it, as for runs (``smtc_lab.views.bundle``).
"""

from __future__ import annotations

import base64
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.errors import SmtcLabError
from smtc_lab.launch.comparison_run import ComparisonRun
from smtc_lab.metrics.comparison import Comparison
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.views import format as fmt
from smtc_lab.views.drawing import drawn_by
from smtc_lab.views.live.comparison_describer import ComparisonDescriber
from smtc_lab.views.live.comparison_follower import ComparisonFollower
from smtc_lab.views.live.history import History
from smtc_lab.views.live.stream import Stream
from smtc_lab.views.rendering import png_uri, render
from smtc_lab.views.table import (
    INTERVAL_NOTE,
    comparison_rows,
    comparison_table,
    table_title,
)
from smtc_lab.views.words import price_line, scale_line, tells_cost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.launch.compare import ComparisonOutcome
    from smtc_lab.launch.comparison_folder import ComparisonFolder
    from smtc_lab.metrics.records import RunRecords
    from smtc_lab.views.live.comparison_info import ComparisonInfo

COMPARISON_MIME = "application/vnd.smtc-lab.comparison+json"
"""Our own type: ``version``, ``info`` (a ``ComparisonInfo``, or null), ``comparison`` (a
``Comparison``, or null: no round was completed) and ``launches``, whose steps are in bins."""

VERSION = 1
"""Version of that JSON."""

Picture = tuple[bytes, tuple[int, int]]
"""A figure as PNG, with width and height in CSS pixels."""

_COLORS = ("#2b8cc9", "#dd6a12", "#159a76", "#b95fa3", "#e0495f")
"""Colours of set-ups that can be told on dark and on light ground, as in ``display.css``."""

_MOST_BINS = 4_096
_MOST_BINS_OF_LAUNCH = 512
_LOOKS = 3  # the first takes all in, the second sees the end


def bundle_of(shown: Comparison | ComparisonOutcome) -> dict[str, Any]:
    """Return the mime bundle of a comparison; of an outcome, with the steps of its launches."""
    comparison: Comparison
    runs: Sequence[RunRecords]
    if isinstance(shown, Comparison):
        comparison, runs = shown, ()
    else:
        comparison, runs = shown.comparison, shown.runs
    png, size = _picture(comparison)
    html = _html(
        sentence=comparison.verdict,
        evidence=comparison.evidence,
        scale=scale_line(comparison),
        title=f"{table_title(comparison)}: {INTERVAL_NOTE}",
        names=[cluster.name for cluster in comparison.clusters],
        rows=comparison_rows(comparison),
        notes=[
            *comparison.warnings,
            *([price_line(comparison)] if tells_cost(comparison) else []),
        ],
        picture=(png, size),
    )
    return {
        COMPARISON_MIME: _own(None, comparison, runs),
        "text/html": html,
        "image/png": base64.b64encode(png).decode("ascii"),
        "text/plain": comparison_table(comparison),
    }


def ended_bundle(run: ComparisonRun) -> dict[str, Any]:
    """Return the mime bundle of a comparison that has ended, however.

    Raises:
        StoreError: Its folder cannot be read.
    """
    info, comparison, records = snapshot(run)
    bundle = {COMPARISON_MIME: _own(info, comparison, records), "text/plain": info_text(info)}
    if comparison is None:
        return {**bundle, "text/html": info_html(info)}
    picture = _picture(comparison)
    return {
        **bundle,
        "text/html": info_html(info, picture=picture),
        "image/png": base64.b64encode(picture[0]).decode("ascii"),
    }


def snapshot(
    run: ComparisonRun,
) -> tuple[ComparisonInfo, Comparison | None, list[RunRecords]]:
    """Return where a comparison stands now, its numbers so far, and its completed launches.

    A launch that cannot be read is told in the description's notes.

    Raises:
        StoreError: The comparison's own folder cannot be read.
    """
    stream = Stream(lambda *_: None)
    follower = ComparisonFollower(run, stream)
    describer = ComparisonDescriber(follower)
    try:
        for _ in range(_LOOKS):
            follower.look()
        info = describer.describe()
    except SmtcLabError as error:
        info = describer.describe_problem(str(error))
    stream.close()
    records = [launch.records for launch in follower.followed if launch.records is not None]
    return info, follower.comparison, records


def info_html(info: ComparisonInfo, *, picture: Picture | None = None) -> str:
    """Return a comparison as HTML that needs no script, and that sanitizers leave whole.

    Args:
        info: Where it stands.
        picture: Its figure as PNG, with width and height in CSS pixels; None: without.
    """
    return _html(
        sentence=info.sentence,
        evidence=info.evidence,
        scale=info.scale,
        title=f"{info.name}: {info.state}. {info.reason}".strip(),
        names=[set_up.label for set_up in info.set_ups],
        rows=info.rows,
        notes=info.notes,
        picture=picture,
    )


def info_text(info: ComparisonInfo) -> str:
    """Return a comparison for a terminal and an e-mail."""
    names = ", ".join(fmt.plain(set_up.label) for set_up in info.set_ups)
    rows = [
        f"  {row.label}: {' | '.join(', '.join(cell) for cell in row.cells)}"
        for row in info.rows
    ]
    return "\n".join(
        [
            f"{info.name} {info.state}".strip(),
            *filter(None, (info.reason, info.sentence)),
            f"  set-ups: {names}",
            *rows,
            *info.notes,
        ]
    )


def drawn_elsewhere(folder: ComparisonFolder) -> dict[str, Any]:
    """Return the mime bundle of a comparison that has ended, made by a process of its own.

    Raises:
        ViewError: It could not be made.
    """
    return drawn_by(
        "smtc_lab.views.comparison_bundle",
        folder.path,
        refusal=lambda why: _refusal(folder, why[-500:]),
    )


def _html(*, picture: Picture | None, **values: object) -> str:
    png, (width, height) = picture or (b"", (0, 0))
    return render(
        "comparison_end.html.j2",
        **values,
        colors=_COLORS,
        image_uri=png_uri(png) if png else "",
        width=width,
        height=height,
    )


def _own(
    info: ComparisonInfo | None, comparison: Comparison | None, runs: Sequence[RunRecords]
) -> dict[str, Any]:
    return {
        "version": VERSION,
        "info": None if info is None else info.to_json(),
        "comparison": None if comparison is None else comparison.model_dump(mode="json"),
        "launches": _launches(runs),
    }


def _launches(runs: Sequence[RunRecords]) -> list[dict[str, Any]]:
    """Return the steps of each launch, in so few bins that all take less than 200 kB."""
    most = min(_MOST_BINS_OF_LAUNCH, _MOST_BINS // max(1, len(runs)))
    kept = []
    for run in runs:
        launch = measured_launch(run)
        if launch is None:
            continue
        times_s = np.concatenate([launch.warm_up_time_s, launch.step_time_s])
        history = History(1, most_bins=max(2, most // 2 * 2))
        history.append(times_s[np.newaxis])
        bins = history.before(len(times_s))
        kept.append(
            {
                "label": run.label,
                "job_name": run.job.job_name,
                "steps": len(times_s),
                "warm_up_steps": launch.warm_up_steps,
                "bin_steps": bins.width,
                "step_time_s": {
                    "low": _short(bins.low[0]),
                    "high": _short(bins.high[0]),
                    "mean": _short(bins.mean[0]),
                },
            }
        )
    return kept


def _short(values: NDArray[np.float64]) -> list[float]:
    """Return numbers with the five digits that a chart can show."""
    return [float(f"{value:.5g}") for value in values]


def _picture(comparison: Comparison) -> Picture:
    """Return the overview as PNG, with width and height in CSS pixels."""
    # matplotlib takes most of a second to import, and only a figure needs it
    from smtc_lab.views.cost_figures import overview_figure  # noqa: PLC0415
    from smtc_lab.views.frame import rendered  # noqa: PLC0415
    from smtc_lab.views.theme import LIGHT  # noqa: PLC0415

    figure = overview_figure(comparison, theme=LIGHT, framed=False)
    width, height = (round(inches * 100) for inches in figure.get_size_inches())
    return rendered(figure, LIGHT, "png"), (width, height)


def _refusal(folder: ComparisonFolder, why: str) -> str:
    return (
        f"The picture of comparison {folder.name!r} could not be made ({why}). Its result is "
        "kept; display the comparison again."
    )


if __name__ == "__main__":
    json.dump(ended_bundle(ComparisonRun.open(sys.argv[1])), sys.stdout)
