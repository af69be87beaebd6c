"""What a notebook keeps of a scaling study's result that is in memory, with no folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtc_lab.study.scaling.scale import SCALING
from smtc_lab.views.comparison.described import described
from smtc_lab.views.figures.drawing import mime_bundle, picture_of
from smtc_lab.views.scaling.figure import scaling_figure
from smtc_lab.views.scaling.info import scaling_info, scaling_section
from smtc_lab.views.scaling.text import rows_of_page, scaling_text
from smtc_lab.views.study.snapshot import COMPARISON_MIME, StudySnapshot
from smtc_lab.views.study.words import study_html
from smtc_lab.views.text.findings import told

if TYPE_CHECKING:
    from smtc_lab.metrics.scaling.scaling import Scaling


def bundle_of(scaling: Scaling) -> dict[str, Any]:
    """Return the mime bundle of a scaling study's result."""
    seen = snapshot_of(scaling)
    info = seen.info
    told = scaling_info(scaling, [set_up.label for set_up in info.set_ups])
    picture = picture_of(scaling_figure(told, scale=info.scale))
    return mime_bundle(
        {COMPARISON_MIME: seen.as_dict()},
        html=study_html(info, picture=picture),
        text=scaling_text(scaling),
        picture=picture,
    )


def to_html(scaling: Scaling) -> str:
    """Return a scaling study's result as HTML that needs no script."""
    html: str = bundle_of(scaling)["text/html"]
    return html


def snapshot_of(scaling: Scaling) -> StudySnapshot:
    """Return what is kept of a scaling study's result."""
    info = described(scaling.comparison, ())
    names = [set_up.label for set_up in info.set_ups]
    info = replace(
        info,
        sentence=scaling.verdict,
        rows=rows_of_page(scaling, names, info.rows),
        findings=told(scaling.findings),
        code="",
        sections=scaling_section(scaling, names),
    )
    return StudySnapshot(kind=SCALING, info=info, comparison=scaling.comparison)
