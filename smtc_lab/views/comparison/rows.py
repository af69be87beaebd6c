"""The table of set-ups of a comparison that has a result, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.views.study.info import RowInfo
from smtc_lab.views.study.rows import evidence_rows
from smtc_lab.views.text.table import comparison_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.spec.job import TrainingJob

_OF_COMPILERS = frozenset({"first steps' overhead (s)", "break-even step"})


def final_rows(comparison: Comparison, jobs: Sequence[TrainingJob]) -> tuple[RowInfo, ...]:
    """Return the table of the result, one column for each job.

    Args:
        comparison: The result; a job that failed in it has no column there.
        jobs: What was compared, the baseline first.
    """
    places = {cluster.name: place for place, cluster in enumerate(comparison.clusters)}
    columns = [places.get(job.cluster.label) for job in jobs]
    return (
        *evidence_rows(jobs),
        *(
            RowInfo(
                label=row.label,
                cells=tuple(
                    ("left out",) if place is None else row.cells[place] for place in columns
                ),
            )
            for row in comparison_rows(comparison)
        ),
    )


def compiler_rows(
    interim: Comparison | None, jobs: Sequence[TrainingJob]
) -> tuple[RowInfo, ...]:
    """Return what complete rounds say of compilers: whole launches tell it, steps do not.

    Args:
        interim: The comparison of the complete rounds; None: there is none.
        jobs: What is compared, the baseline first.
    """
    if interim is None:
        return ()
    return tuple(row for row in final_rows(interim, jobs) if row.label in _OF_COMPILERS)
