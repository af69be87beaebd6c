"""The table of set-ups of a study, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.result import evidence_of
from smtc_lab.views.text.set_ups import RowInfo
from smtc_lab.views.text.table import comparison_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.views.text.set_ups import Compared, SetUp


def study_rows(compared: Compared, jobs: Sequence[TrainingJob]) -> tuple[RowInfo, ...]:
    """Return the table of what is seen so far, or of the result, one column for each job.

    Args:
        compared: What is told; a job that failed in a result has no column there.
        jobs: The set-ups, in the order of the columns.
    """
    set_ups: Sequence[SetUp] = compared.clusters
    places = {each.name: place for place, each in enumerate(set_ups)}
    columns = [places.get(job.cluster.label) for job in jobs]
    return (
        *_evidence_rows(jobs),
        *(
            RowInfo(
                label=row.label,
                cells=tuple(
                    ("left out",) if place is None else row.cells[place] for place in columns
                ),
            )
            for row in comparison_rows(compared)
        ),
    )


def _evidence_rows(jobs: Sequence[TrainingJob]) -> list[RowInfo]:
    """Return what the numbers of each set-up are, where they are not alike.

    Where they are, it is said once, beside the sentence.
    """
    found = [evidence_of(job) for job in jobs]
    if len(set(found)) < 2:
        return []
    return [RowInfo(label="numbers are", cells=tuple((each,) for each in found))]
