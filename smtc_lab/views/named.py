"""A run or a study by its name, or by a begin that no other one has."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING

from smtc_lab.errors import StoreError
from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import find_run, find_runs, runs_root
from smtc_lab.study.folder import StudyFolder, read_study_state, studies_root
from smtc_lab.study.stored import find_studies
from smtc_lab.views.kinds import is_study, open_study

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.views.kinds import Thing


def thing_named(name: str, *, root: Path | None = None) -> Thing:
    """Return the run or the study of a name, of its begin, or of a path to a run's folder.

    The begin of a study's name is that of its launches too, which are not meant by it.

    Args:
        name: Whole, or so much of it that only one has it.
        root: Folder of runs, beside which studies lie; None: the default one.

    Raises:
        StoreError: There is none, or there are several; names them.
    """
    if is_study(name, root=root):
        return open_study(name, root=root)
    root = runs_root(root)
    if "/" in name or os.path.lexists(root / name / "job.json"):
        return Run.open(name, root=root)
    of_study = launches_of_studies(root)
    studies = [path.name for _, path in find_studies(studies_root(root))]
    runs = [folder.job_name for folder in find_runs(root)]
    own = studies + [run for run in runs if run not in of_study]
    for names in (own, runs):
        begin_so = [each for each in names if name and each.startswith(name)]
        if len(begin_so) == 1:
            found = begin_so[0]
            return open_study(found, root=root) if found in studies else _run(found, root)
        if begin_so:
            hint = f"These begin so: {', '.join(begin_so[:5])}."
            break
    else:
        alike = difflib.get_close_matches(name, own)
        newest = f"The newest ones are: {', '.join(own[-3:]) or 'none'}."
        hint = f"Did you mean {', '.join(alike)}?" if alike else newest
    raise StoreError(f"There is no run named {name[:80]!r} in {str(root)!r}. {hint}")


def launches_of_studies(root: Path) -> dict[str, str]:
    """Return the names of all launches of studies, and of which study each is.

    Args:
        root: Folder of runs, beside which studies lie.
    """
    found: dict[str, str] = {}
    for _, path in find_studies(studies_root(root)):
        try:
            launched = read_study_state(StudyFolder(path)).runs
        except StoreError:  # its row says so
            continue
        found |= {launch.job_name: path.name for launch in launched}
    return found


def _run(name: str, root: Path) -> Run:
    return Run.open(str(find_run(name, root).path))
