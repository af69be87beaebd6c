"""What a notebook keeps of a comparison: one mime bundle, legible with no kernel and no script.

``python -m smtc_lab.views.comparison_bundle FOLDER`` prints that of a comparison's folder as
JSON: a process of its own draws it, as for runs (``smtc_lab.views.bundle``).
"""

from __future__ import annotations

import base64
import json
import sys
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.stream import Stream
from smtc_lab.metrics.comparison import Comparison
from smtc_lab.study.comparison_run import ComparisonRun
from smtc_lab.views import format as fmt
from smtc_lab.views.comparison_described import described
from smtc_lab.views.comparison_tables import followed_tables, recorded_tables
from smtc_lab.views.drawing import drawn_by
from smtc_lab.views.findings import told
from smtc_lab.views.live.comparison_describer import ComparisonDescriber
from smtc_lab.views.live.comparison_follower import ComparisonFollower
from smtc_lab.views.rendering import png_uri, render
from smtc_lab.views.table import (
    INTERVAL_NOTE,
    comparison_rows,
    comparison_table,
    table_title,
)
from smtc_lab.views.theme import ON_ANY_PAPER
from smtc_lab.views.words import price_line, scale_line, tells_cost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.study.compare import ComparisonOutcome
    from smtc_lab.study.folder import StudyFolder
    from smtc_lab.views.live.comparison_info import ComparisonInfo
    from smtc_lab.views.run_snapshot import Curve

COMPARISON_MIME = "application/vnd.smtc-lab.comparison+json"
"""Our own type: ``version``, ``info`` (a ``ComparisonInfo``), ``comparison`` (a ``Comparison``,
or null: no round was completed) and ``tables``, by the names that they have while a comparison
is watched, each a ``Curve``."""

VERSION = 2
"""Version of that JSON. The first one had no tables, and could be without ``info``."""

Picture = tuple[bytes, tuple[int, int]]
"""A figure as PNG, with width and height in CSS pixels."""

_LOOKS = 3  # the first takes all in, the second sees the end


def bundle_of(shown: Comparison | ComparisonOutcome) -> dict[str, Any]:
    """Return the mime bundle of a comparison; of an outcome, with the steps of its launches."""
    comparison = shown if isinstance(shown, Comparison) else shown.comparison
    png, size = _picture(comparison)
    html = _html(
        sentence=comparison.verdict,
        evidence=comparison.evidence,
        scale=scale_line(comparison),
        title=f"{table_title(comparison)}: {INTERVAL_NOTE}",
        names=[cluster.name for cluster in comparison.clusters],
        rows=comparison_rows(comparison),
        notes=[price_line(comparison)] if tells_cost(comparison) else [],
        findings=told(comparison.findings),
        picture=(png, size),
    )
    return {
        COMPARISON_MIME: own_of(shown),
        "text/html": html,
        "image/png": base64.b64encode(png).decode("ascii"),
        "text/plain": comparison_table(comparison),
    }


def own_of(shown: Comparison | ComparisonOutcome) -> dict[str, Any]:
    """Return our own JSON of a comparison; of an outcome, with the steps of its launches."""
    if isinstance(shown, Comparison):
        return _own(described(shown, ()), shown, {})
    info = described(shown.comparison, shown.runs)
    return _own(info, shown.comparison, recorded_tables(shown.runs))


def ended_bundle(run: ComparisonRun) -> dict[str, Any]:
    """Return the mime bundle of a comparison that has ended, however.

    Raises:
        StoreError: Its folder cannot be read.
    """
    info, comparison, tables = snapshot(run)
    bundle = {COMPARISON_MIME: _own(info, comparison, tables), "text/plain": info_text(info)}
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
) -> tuple[ComparisonInfo, Comparison | None, dict[str, Curve]]:
    """Return where a comparison stands now, its numbers so far, and the rows of its charts.

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
    return info, follower.comparison, followed_tables(follower)


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
        findings=info.findings,
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
            *map(str, info.findings),
            *info.notes,
        ]
    )


def drawn_elsewhere(folder: StudyFolder) -> dict[str, Any]:
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
        colors=ON_ANY_PAPER,
        image_uri=png_uri(png) if png else "",
        width=width,
        height=height,
    )


def _own(
    info: ComparisonInfo, comparison: Comparison | None, tables: Mapping[str, Curve]
) -> dict[str, Any]:
    return {
        "version": VERSION,
        "info": info.to_json(),
        "comparison": None if comparison is None else comparison.model_dump(mode="json"),
        "tables": {name: curve.as_dict() for name, curve in tables.items()},
    }


def _picture(comparison: Comparison) -> Picture:
    """Return the overview as PNG, with width and height in CSS pixels."""
    # matplotlib takes most of a second to import, and only a figure needs it
    from smtc_lab.views.cost_figures import overview_figure  # noqa: PLC0415
    from smtc_lab.views.frame import rendered  # noqa: PLC0415
    from smtc_lab.views.theme import LIGHT  # noqa: PLC0415

    figure = overview_figure(comparison, theme=LIGHT, framed=False)
    width, height = (round(inches * 100) for inches in figure.get_size_inches())
    return rendered(figure, LIGHT, "png"), (width, height)


def _refusal(folder: StudyFolder, why: str) -> str:
    return (
        f"The picture of comparison {folder.name!r} could not be made ({why}). Its result is "
        "kept; display the comparison again."
    )


if __name__ == "__main__":
    json.dump(ended_bundle(ComparisonRun.open(sys.argv[1])), sys.stdout)
