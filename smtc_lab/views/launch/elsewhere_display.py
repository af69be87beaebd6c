"""A run on another engine, shown before it is started: what differs, and what it may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.views.launch import plan_display
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.rendering import render

if TYPE_CHECKING:
    from smtc_lab.launchers.elsewhere import PlannedElsewhere

_WIDEST = 120


def bundle_of(planned: PlannedElsewhere[Any]) -> dict[str, Any]:
    """Return the mime bundle of what would be launched."""
    return {"text/html": to_html(planned), "text/plain": str(planned)}


def to_html(planned: PlannedElsewhere[Any]) -> str:
    """Return what would be launched as HTML that needs no script."""
    rows = [tuple(fmt.plain(text, _WIDEST) for text in each) for each in planned.differences]
    differences = render(
        "display_elsewhere.html.j2",
        name=fmt.plain(planned.run_name),
        engine=fmt.plain(planned.plan.launcher),
        rows=rows,
    )
    return differences + plan_display.to_html(planned.plan)
