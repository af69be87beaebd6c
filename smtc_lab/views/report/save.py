"""Everything that is kept of a comparison, in one folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from smtc_lab.neutral_text import neutral
from smtc_lab.views.comparison.bundle import snapshot_of
from smtc_lab.views.figures.every import save_figures
from smtc_lab.views.report.compiler_section import findings_text
from smtc_lab.views.report.html import write_report
from smtc_lab.views.text.table import comparison_table

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.study.comparison.compare import ComparisonOutcome


def save_comparison(outcome: ComparisonOutcome, folder: Path) -> list[Path]:
    """Write ``comparison.json``, ``comparison.txt``, ``report.html`` and ``figures/``.

    Beside them ``comparison.smtc.json``, which JupyterLab opens as the view that a notebook
    shows.

    Returns:
        The paths that were written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = ("comparison.json", "comparison.smtc.json", "comparison.txt", "report.html")
    data, view, text, report = (folder / name for name in names)
    data.write_text(outcome.comparison.to_json() + "\n", encoding="utf-8")
    view.write_text(json.dumps(snapshot_of(outcome).as_dict()) + "\n", encoding="utf-8")
    findings = findings_text(outcome.comparison, outcome.runs)
    table = comparison_table(outcome.comparison)
    words = neutral("\n\n".join(filter(None, [table, findings])))
    text.write_text(words + "\n", encoding="utf-8")
    write_report(outcome.comparison, outcome.runs, report)
    return [
        data,
        view,
        text,
        report,
        *save_figures(outcome.comparison, outcome.runs, folder / "figures"),
    ]
