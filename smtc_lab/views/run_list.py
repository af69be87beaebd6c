"""The runs and comparisons that there are, as a table for a terminal and for a notebook."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import NewerSchemaError, StoreError
from smtc_lab.follow.run_follower import read_plan
from smtc_lab.launchers.special_launch import made_by
from smtc_lab.store.reader import read_job
from smtc_lab.store.run_folder import RunFolder, find_runs, runs_root
from smtc_lab.store.state import RunState, current_state, lasted_s, word_of
from smtc_lab.study.folder import (
    COMPARISON,
    StudyFolder,
    StudyState,
    read_request,
    read_study_state,
    studies_root,
)
from smtc_lab.study.stored import find_studies
from smtc_lab.views.named import launches_of_studies
from smtc_lab.views.text.format import brief, count, state_word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_COLUMNS = ("run", "state", "started", "took", "cluster")


@dataclass(frozen=True, kw_only=True)
class RunList:
    """Runs under one folder, and the comparisons beside it; shows itself as a table."""

    rows: tuple[dict[str, Any], ...]
    """What is shown of each run: see ``run_rows``."""

    root: Path
    """Where they lie."""

    begin_with: str
    """What starts a run, for a list without any."""

    def __str__(self) -> str:
        return runs_text(self.rows, root=self.root, begin_with=self.begin_with)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from smtc_lab.views.text.rendering import render  # noqa: PLC0415  a terminal needs no templates

        return render(
            "display_runs.html.j2",
            columns=_COLUMNS,
            rows=[_cells(row) for row in _shown(self.rows)],
            nothing="" if _shown(self.rows) else str(self),
        )


def run_rows(root: Path | None = None, *, last: int) -> list[dict[str, Any]]:
    """Return what a list shows of the newest runs and comparisons, oldest first.

    Args:
        root: Folder of runs; None: the default one.
        last: How many, at least 1.

    Returns:
        For each ``job_name``, ``kind`` (``run``, ``comparison``, …), ``cluster`` and its state;
        of a study also ``launches``, how many were begun; of a launch of one ``study``, its
        name; of one of a calibration or a proof of resuming ``made_by``; of a damaged one
        ``job_name``, ``kind`` and ``damaged``, which says what is wrong, and ``is_newer``
        where a newer version wrote it.
    """
    root = runs_root(root)
    found: list[tuple[float, str, Callable[[], dict[str, Any]]]] = [
        (_begun_s(folder.job_file), folder.job_name, partial(_run_row, folder))
        for folder in find_runs(root)
    ]
    for begun_s, path in find_studies(studies_root(root)):
        found.append((begun_s, path.name, partial(_study_row, StudyFolder(path))))
    found.sort(key=lambda each: each[:2])
    of_study = launches_of_studies(root)
    studies = {path.name for _, path in find_studies(studies_root(root))}
    # what a study, a calibration or a proof launched takes no place of its own
    own: set[str] = set()
    shown: set[str] = set()
    for _, name, _ in reversed(found):
        if len(own) == last:
            break
        shown.add(name)
        if name in studies or (name not in of_study and not _made_by(root, name)):
            own.add(name)
    shown -= {name for name, study in of_study.items() if study not in own}
    shown |= {name for name, study in of_study.items() if study in own}
    rows = [row() for _, name, row in found if name in shown]
    return [_with_maker(row, of_study, root) for row in rows]


def runs_text(rows: Sequence[dict[str, Any]], *, root: Path, begin_with: str) -> str:
    """Return a table of runs as text, in the order of its rows."""
    cells = [_cells(row) for row in _shown(rows)]
    if not cells:
        return f"No runs in {root}. Start one with {begin_with}."
    width = max(len(each[0]) for each in cells)
    head, *rest = _COLUMNS
    lines = [_line(f"{head:<{width}}", *rest)]
    for name, *others in cells:
        padded = f"{name:<{width}}"
        lines.append(_line(padded, *others) if len(others) > 1 else f"{padded}  {others[0]}")
    return "\n".join(lines)


def state_values(state: RunState | StudyState) -> dict[str, object]:
    """Return what is told of a state."""
    values: dict[str, object] = {
        "state": state.state,
        "reason": state.reason,
        "started_s": state.started_s,
        "ended_s": state.ended_s,
    }
    if isinstance(state, StudyState):  # its launches have exit codes of their own
        return values
    return {
        **values,
        "exit_codes": state.exit_codes,
        "secondary": state.secondary,
        "attempts": [asdict(attempt) for attempt in state.attempts],
    }


def moment(started_s: float | None) -> str:
    """Return a time since the epoch as local date and time; None: not yet."""
    if started_s is None:
        return "not yet"
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(started_s))


def took(started_s: float | None, ended_s: float | None) -> str:
    """Return how long a run took, or takes until now; empty where it has not begun."""
    lasted = lasted_s(started_s, ended_s)
    return "" if lasted is None else f"{lasted:.1f} s"


def _begun_s(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:  # it is gone meanwhile, and its row will say so
        return 0.0


def _study_row(folder: StudyFolder) -> dict[str, Any]:
    row = {"job_name": folder.name, "kind": COMPARISON}
    try:
        request = read_request(folder)
        row["kind"] = request.kind
        told = read_study_state(folder)
        state = state_values(told)
    except StoreError as error:
        return _damaged(row, error)
    labels = ", ".join(job.cluster.label for job in request.jobs)
    words = brief(f"{request.kind} of {labels}")
    return {**row, "cluster": words, "launches": len(told.runs), **state}


def _made_by(root: Path, name: str) -> str:
    return made_by(read_plan(RunFolder(root / name)))


def _with_maker(row: dict[str, Any], of_study: dict[str, str], root: Path) -> dict[str, Any]:
    """Return the row of a run with the study that it is a launch of, or what else made it."""
    if row["kind"] != "run":
        return row
    if study := of_study.get(row["job_name"]):
        return {**row, "study": study}
    maker = _made_by(root, row["job_name"])
    return {**row, "made_by": maker} if maker else row


def _run_row(folder: RunFolder) -> dict[str, Any]:
    row = {"job_name": folder.job_name, "kind": "run"}
    try:
        cluster = str(read_job(folder).cluster)
        state = state_values(current_state(folder))
    except StoreError as error:
        return _damaged(row, error)
    return {**row, "cluster": cluster, **state}


def _damaged(row: dict[str, Any], error: StoreError) -> dict[str, Any]:
    """Return the row of what cannot be read; what is newer than this version is not damaged."""
    told = {**row, "damaged": brief(str(error))}
    return {**told, "is_newer": True} if isinstance(error, NewerSchemaError) else told


def _shown(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows without launches whose study is among them, or a calibration made."""
    listed = {row["job_name"] for row in rows}
    return [row for row in rows if row.get("study") not in listed and not row.get("made_by")]


def _cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a row; of a damaged run two."""
    name = brief(row["job_name"])
    if "damaged" in row:
        told = brief(row["damaged"])
        return [name, told if row.get("is_newer") else f"damaged: {told}"]
    times = moment(row["started_s"]), took(row["started_s"], row["ended_s"])
    cluster = brief(row["cluster"])
    if "launches" in row:
        cluster += f", {count(row['launches'], 'launch')}"
    word = word_of(row["state"], row.get("secondary", ""))
    return [name, state_word(word), *times, cluster]


def _line(name: str, state: str, started: str, lasted: str, cluster: str) -> str:
    return f"{name}  {state:<10}  {started:<16}  {lasted:>8}  {cluster}"
