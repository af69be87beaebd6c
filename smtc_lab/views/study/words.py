"""A study in words: what a saved notebook, a terminal and an e-mail show of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.views.figures.theme import ON_ANY_PAPER
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.rendering import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.views.figures.drawing import Picture
    from smtc_lab.views.study.info import ComparisonInfo
    from smtc_lab.views.text.set_ups import RowInfo


def study_html(
    info: ComparisonInfo, *, picture: Picture | None = None, title: str | None = None
) -> str:
    """Return a study as HTML that needs no script, and that sanitizers leave whole.

    Args:
        info: Where it stands.
        picture: Its figure; None: without.
        title: Of its table; None: its name and its state.
    """
    if title is None:
        title = f"{info.name}: {fmt.state_word(info.state)}. {info.reason}".strip()
    names = [set_up.label for set_up in info.set_ups]
    return render(
        "study.html.j2",
        info=info,
        title=title,
        names=names,
        colors=ON_ANY_PAPER,
        picture=picture,
    )


def study_text(info: ComparisonInfo) -> str:
    """Return a study for a terminal and an e-mail."""
    names = ", ".join(fmt.plain(set_up.label) for set_up in info.set_ups)
    # a table says it where the set-ups differ
    evidence = {set_up.evidence for set_up in info.set_ups}
    rows = [
        *(f"  numbers are: {word}" for word in evidence if len(evidence) == 1),
        *_lines(info.rows),
    ]
    return "\n".join(
        [
            f"{info.name} {fmt.state_word(info.state)}".strip(),
            *filter(None, (info.reason, info.sentence)),
            f"  set-ups: {names}",
            *rows,
            *(
                line
                for section in info.sections
                for line in (*filter(None, (section.sentence,)), *_lines(section.rows))
            ),
            *map(str, info.findings),
            *info.notes,
        ]
    )


def _lines(rows: Sequence[RowInfo]) -> list[str]:
    return [
        f"  {row.label}: {' | '.join(', '.join(cell) for cell in row.cells)}" for row in rows
    ]
