"""Which batches fit, and how fast they are: the schema of ``batch_sizes.json``, version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from smtc_lab.display import Displayed
from smtc_lab.metrics.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA_VERSION: Literal[1] = 1


class BatchTrial(Result):
    """One short launch with one batch size."""

    batch_size: int
    """Value of the hyperparameter."""

    fits: bool | None
    """Whether its steps were made; None: it failed for a reason of another kind."""

    step_time_s: float | None = None
    """Mean time of the second half of its steps, in seconds; None: it does not fit."""

    samples_per_s: float | None = None
    """Samples per second of the whole job; None: it does not fit, or they are not known."""

    peak_memory_bytes: int | None = None
    """Most memory that a trainer held; None: not known."""

    reason: str | None = None
    """Why it does not fit, or why that is not known; None: it fits."""

    is_beyond_dataset: bool = False
    """Whether the dataset has too few samples for it, so that it says nothing of memory."""

    run: str
    """Job name of the launch."""


class BackendBatches(Result):
    """The batches that one compiler set-up can train with."""

    backend: str
    """What tables call the set-up."""

    trials: tuple[BatchTrial, ...]
    """What was tried, by batch size."""

    largest: int | None
    """Largest batch that fits; None: none was found."""

    smallest_too_large: int | None
    """Smallest batch that does not; None: every one did."""

    limit: str | None
    """What stands in the way of larger batches; None: nothing was met."""

    fastest: int | None
    """Batch with the most samples per second; None: not known."""

    most_samples_per_s: float | None
    """Samples per second of ``fastest``, of one short launch; None: not known."""

    problem: str | None
    """Why the search ended early; None: it did not."""

    @property
    def ends_with_dataset(self) -> bool:
        """Whether it is the dataset that stands in the way of larger batches."""
        return any(
            trial.is_beyond_dataset
            for trial in self.trials
            if trial.batch_size == self.smallest_too_large
        )


class BatchSizes(Displayed, Result):
    """The batches that each compiler set-up of a script can train with, on this machine."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this schema."""

    created: str
    """When the search was made, ISO 8601 with time zone."""

    entry_point: str
    """The script that was run."""

    hyperparameter: str
    """Name of the hyperparameter that holds the batch size."""

    steps: int
    """Steps of each trial."""

    memory_limit_bytes: int | None
    """Memory for data that a trainer process was allowed, the interpreter's own and that of
    its libraries included; None: the device decides."""

    backends: tuple[BackendBatches, ...]
    """The set-ups, the baseline first."""

    machine: dict[str, object]
    """The machine that it was measured on: CPU, cores, memory, versions."""

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the result as JSON text."""
        return self.model_dump_json(indent=indent)


def backend_batches(backend: str, trials: Sequence[BatchTrial]) -> BackendBatches:
    """Return what the trials of one set-up tell together."""
    fitting = [trial for trial in trials if trial.fits]
    largest = max((trial.batch_size for trial in fitting), default=None)
    too_large = min(
        (trial for trial in trials if trial.fits is False),
        key=lambda trial: trial.batch_size,
        default=None,
    )
    fastest = max(
        (trial for trial in fitting if trial.samples_per_s is not None),
        key=lambda trial: trial.samples_per_s or 0.0,
        default=None,
    )
    failed = next((trial for trial in trials if trial.fits is None), None)
    return BackendBatches(
        backend=backend,
        trials=tuple(trials),
        largest=largest,
        smallest_too_large=None if too_large is None else too_large.batch_size,
        limit=None if too_large is None else too_large.reason,
        fastest=None if fastest is None else fastest.batch_size,
        most_samples_per_s=None if fastest is None else fastest.samples_per_s,
        problem=None if failed is None else failed.reason,
    )
