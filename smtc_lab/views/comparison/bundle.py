"""What a notebook keeps of a comparison that is in memory, with no folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.views.comparison.described import described
from smtc_lab.views.figures.drawing import mime_bundle, picture_of
from smtc_lab.views.study.snapshot import COMPARISON_MIME, StudySnapshot
from smtc_lab.views.study.tables import recorded_tables
from smtc_lab.views.study.words import study_html
from smtc_lab.views.text.table import INTERVAL_NOTE, comparison_table, table_title

if TYPE_CHECKING:
    from smtc_lab.study.comparison.compare import ComparisonOutcome


def bundle_of(shown: Comparison | ComparisonOutcome) -> dict[str, Any]:
    """Return the mime bundle of a comparison; of an outcome, with the steps of its launches."""
    # matplotlib takes most of a second to import, and only a figure needs it
    from smtc_lab.views.figures.cost import overview_figure  # noqa: PLC0415

    comparison = shown if isinstance(shown, Comparison) else shown.comparison
    seen = snapshot_of(shown)
    picture = picture_of(overview_figure(comparison, framed=False))
    title = f"{table_title(comparison)}: {INTERVAL_NOTE}"
    return mime_bundle(
        {COMPARISON_MIME: seen.as_dict()},
        html=study_html(seen.info, picture=picture, title=title),
        text=comparison_table(comparison),
        picture=picture,
    )


def snapshot_of(shown: Comparison | ComparisonOutcome) -> StudySnapshot:
    """Return what is kept of a comparison; of an outcome, with the steps of its launches."""
    if isinstance(shown, Comparison):
        return StudySnapshot(info=described(shown, ()), comparison=shown)
    info = described(shown.comparison, shown.runs)
    return StudySnapshot(
        info=replace(info, notes=(*info.notes, *filter(None, [shown.new_files]))),
        comparison=shown.comparison,
        tables=recorded_tables(shown.runs),
    )
