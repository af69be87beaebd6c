"""What a notebook keeps of a run: one mime bundle, legible with no kernel and no script.

``python -m smtc_lab.views.bundle FOLDER`` prints it as JSON.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

from smtc_lab.store.run_folder import RunFolder
from smtc_lab.views import format as fmt
from smtc_lab.views.drawing import drawn_by
from smtc_lab.views.rendering import png_uri, render
from smtc_lab.views.run_snapshot import RunSnapshot, take_snapshot
from smtc_lab.views.run_words import bar_rows, evidence_words, group_rows, run_rows, run_text

RUN_MIME = "application/vnd.smtc-lab.run+json"
"""Our own type: what ``RunSnapshot.as_dict`` returns."""


def run_bundle(folder: RunFolder) -> dict[str, Any]:
    """Return the mime bundle of a run as it is now.

    Raises:
        StoreError: The run's folder cannot be read.
    """
    # matplotlib takes most of a second to import, and only a figure needs it
    from smtc_lab.views.frame import rendered  # noqa: PLC0415
    from smtc_lab.views.run_figures import run_figure  # noqa: PLC0415
    from smtc_lab.views.theme import LIGHT  # noqa: PLC0415

    run = take_snapshot(folder)
    rows = run_rows(run)
    subtitle = [
        evidence_words(run.info),
        f"mean step time {dict(rows).get('mean step time', fmt.UNKNOWN)}",
    ]
    figure = run_figure(run, subtitle=subtitle, theme=LIGHT)
    png = rendered(figure, LIGHT, "png")
    width, height = (round(inches * 100) for inches in figure.get_size_inches())
    html = run_end_html(run, png=png, size=(width, height))
    return {
        RUN_MIME: run.as_dict(),
        "text/html": html,
        "image/png": base64.b64encode(png).decode("ascii"),
        "text/plain": run_text(run),
    }


def run_end_html(
    run: RunSnapshot, *, png: bytes | None = None, size: tuple[int, int] = (0, 0)
) -> str:
    """Return a run as HTML that needs no script, and that nbconvert's sanitizer leaves whole.

    Args:
        run: The run.
        png: Its figure; None: without.
        size: Width and height of the figure in CSS pixels.
    """
    rows = run_rows(run)
    mean = dict(rows).get("mean step time", fmt.UNKNOWN)
    return render(
        "run_end.html.j2",
        info=run.info,
        rows=[*rows, *group_rows(run.info)],
        bars=bar_rows(run),
        findings=run.info.findings,
        image_uri="" if png is None else png_uri(png),
        width=size[0],
        height=size[1],
        alt=f"Step time and CPU utilization of the run: {mean}.",
    )


def drawn_elsewhere(folder: RunFolder) -> dict[str, Any]:
    """Return the mime bundle of a run, made by a process of its own.

    Raises:
        ViewError: It could not be made.
    """
    return drawn_by(
        "smtc_lab.views.bundle", folder.path, refusal=lambda why: _refusal(folder, why)
    )


def _refusal(folder: RunFolder, why: str) -> str:
    last = why.rpartition("\n")[2].rpartition("Error: ")[2]
    return (
        f"The picture of run {folder.job_name!r} could not be made ({last}). Its records are "
        "kept; display the run again."
    )


if __name__ == "__main__":
    json.dump(run_bundle(RunFolder.open(Path(sys.argv[1]))), sys.stdout)
