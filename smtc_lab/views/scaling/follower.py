"""Follows a scaling study: a comparison that also tells how its job grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.scaling.scale_runs import scaling_of
from smtc_lab.metrics.scaling.scaling import Scaling
from smtc_lab.study.scaling.scale import question_of
from smtc_lab.views.comparison.follower import ComparisonFollower
from smtc_lab.views.scaling.text import rows_of_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.views.text.set_ups import RowInfo


class ScalingFollower(ComparisonFollower):
    """The tables of a comparison, and how the job grows by the rounds that are whole."""

    scaling: Scaling | None = None
    """The result so far; None: no round is whole."""

    def rows(self) -> tuple[RowInfo, ...]:
        """Return what only a scaling study tells, above what suits it of a comparison."""
        names = [job.cluster.label for job in self.jobs]
        return rows_of_page(self.scaling, names, super().rows())

    def _result(self) -> Comparison | None:
        written = self.run.result_json
        self.scaling = None if written is None else Scaling.from_json(written)
        return None if self.scaling is None else self.scaling.comparison

    def _compared(self, records: Sequence[RunRecords]) -> Comparison:
        comparison = super()._compared(records)
        question = question_of(self.run.request, catalog=self.catalog, looks=self._looks)
        self.scaling = scaling_of(records, comparison, question)
        return comparison
