"""How a compared job is spread over trainers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.result import Result
from smtc_lab.spec.distribution import Schedule

if TYPE_CHECKING:
    from smtc_lab.spec.job import TrainingJob


class SpreadResult(Result):
    """The distribution of one compared cluster."""

    trainers: int | None
    """Trainers of a launch; None: nothing of it was launched yet."""

    data: int | None
    """Replicas of the model; None: the job has no distribution, or they hang on the number of
    trainers, which is not known yet."""

    shard: int = 1
    """Trainers that share the parameters of one replica."""

    pipeline: int = 1
    """Trainers that each run a stage of one replica."""

    microbatches: int | None = None
    """Parts of a batch that go through the stages; None: there is no pipeline."""

    schedule: Schedule | None = None
    """In which order the stages compute; None: there is no pipeline."""

    @property
    def is_told(self) -> bool:
        """Whether there is more to say than that one process trains."""
        return any(
            each not in {None, 1}
            for each in (self.trainers, self.data, self.shard, self.pipeline)
        )


def spread_of(job: TrainingJob, trainers: int | None) -> SpreadResult:
    """Return how a job is spread.

    Args:
        job: The job.
        trainers: Trainers of a launch of it; None: nothing of it was launched yet.
    """
    asked = job.distribution
    if asked is None:
        return SpreadResult(trainers=trainers, data=None)
    is_staged = asked.pipeline > 1
    return SpreadResult(
        trainers=trainers,
        data=asked.data if trainers is None else asked.replicas(trainers),
        shard=asked.shard,
        pipeline=asked.pipeline,
        microbatches=asked.num_microbatches if is_staged else None,
        schedule=asked.schedule if is_staged else None,
    )
