"""What views know of searches for a batch size: the entry of the table of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.batch.batch_sizes import BatchSizes, BatchTrial, backend_batches
from smtc_lab.views.batch.sizes import sentences, trial_rows
from smtc_lab.views.study.kind import StudyKind
from smtc_lab.views.text.set_ups import RowInfo

if TYPE_CHECKING:
    from smtc_lab.views.study.follower import StudyFollower


class BatchKind(StudyKind):
    """A search for a batch size: what was tried, what fits, and how fast it is."""

    def sentence(self, follower: StudyFollower) -> str:
        """Return what fits, as far as it is known."""
        found = _found(follower)
        if not any(item.trials for item in found.backends):
            return super().sentence(follower)
        told = " ".join(sentences(found))
        if follower.state.state == "Completed":
            return told
        return f"{'It ended early' if follower.state.is_terminal else 'So far'}: {told}"

    def rows(self, follower: StudyFollower) -> tuple[RowInfo, ...]:
        """Return samples per second by batch."""
        found = _found(follower)
        return tuple(
            RowInfo(
                label=f"{found.hyperparameter} {batch_size:,}", cells=tuple((x,) for x in cells)
            )
            for batch_size, cells in trial_rows(found)
        )


def _found(follower: StudyFollower) -> BatchSizes:
    """Return what a search has found so far."""
    request = follower.run.request
    trials: dict[str, list[BatchTrial]] = {job.cluster.label: [] for job in request.jobs}
    for run in follower.state.runs:
        if run.found is not None and run.label in trials:
            trials[run.label].append(BatchTrial.model_validate(run.found))
    return BatchSizes(
        created=request.created.isoformat(timespec="seconds"),
        entry_point=request.jobs[0].entry_point,
        hyperparameter=str(request.options["hyperparameter"]),
        steps=request.jobs[0].max_steps or 0,
        memory_limit_bytes=request.options["memory_limit_bytes"],
        backends=tuple(backend_batches(label, found) for label, found in trials.items()),
        machine={},
    )


BATCH_SIZE = BatchKind("batch size search")
