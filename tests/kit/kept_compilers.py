"""A comparison of compilers in the folders of a user, as one that has ended leaves it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from smtc_lab.store.run_folder import runs_root
from smtc_lab.study.folder import StudyFolder, StudyRequest, StudyState, write_study_state
from smtc_lab.study.supervision import keep_here, make_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.spec.job import TrainingJob

CREATED = datetime(2026, 11, 3, 10, 15, tzinfo=UTC)
"""When it was begun."""


def keep_compilers(
    comparison: Comparison,
    jobs: Sequence[TrainingJob],
    script: Path | str,
    *,
    hyperparameters: Mapping[str, JsonValue],
    root: Path | None = None,
) -> StudyFolder:
    """Leave a comparison of a script as one that has ended leaves it.

    Args:
        comparison: What came out.
        jobs: What was compared; their script and hyperparameters are the given ones.
        script: Path of the script.
        hyperparameters: Of the script.
        root: Folder of runs; None: the default one.
    """
    update: dict[str, Any] = {
        "entry_point": str(script),
        "hyperparameters": dict(hyperparameters),
    }
    request = StudyRequest(
        jobs=tuple(job.model_copy(update=update) for job in jobs),
        rounds=3,
        root=root or runs_root(),
        created=CREATED,
    )
    folder = make_study(request, keep_here)
    folder.result_file("comparison").write_text(comparison.to_json(), encoding="utf-8")
    write_study_state(folder, StudyState(state="Completed"))
    return folder
