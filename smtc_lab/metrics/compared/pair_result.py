"""What a comparison says of one cluster against the first one."""

from __future__ import annotations

from typing import Literal

from pydantic import computed_field

from smtc_lab.metrics.result import Evidence, Interval, Result

Unit = Literal["step", "sample"]
"""What two clusters are judged by."""


class PairResult(Result):
    """One cluster against the first one."""

    baseline: str
    """Name of the cluster that the ratio refers to."""

    candidate: str
    """Name of the other cluster."""

    speedup: Interval
    """Step time of the baseline over step time of the candidate; above 1 is faster. Steps may
    be of other numbers of samples: ``judged_speedup``."""

    saving_fraction: Interval | None
    """Share of the baseline's cost per step that the candidate saves; negative: it costs more.
    None: a price is unknown."""

    saving_per_job_fraction: float | None
    """The same for the whole launches, start-up and end included; None: a price is unknown, or
    the launches of the two took different numbers of steps or of samples."""

    saving_per_job: Interval | None = None
    """``saving_per_job_fraction`` with its interval."""

    times_the_samples: float | None = None
    """Samples of a candidate's step over those of a baseline's, where they differ: then the
    two are judged per sample. None: they do not differ, or are not known."""

    trains_apart: bool = False
    """Whether trainers of one of the two each train the model by themselves: then nothing is
    claimed of their ratio."""

    evidence: Evidence
    """Whether the hardware was there or emulated."""

    verdict: str
    """The result in one sentence."""

    @property
    def unit(self) -> Unit:
        """What the two are judged by: steps are other work where their samples differ."""
        return "step" if self.times_the_samples is None else "sample"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def judged_speedup(self) -> Interval:
        """What is claimed: ``speedup``, of samples a second where they are judged so."""
        times = self.times_the_samples
        return self.speedup if times is None else self.speedup.scaled(times)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def judged_saving(self) -> Interval | None:
        """What is claimed: ``saving_fraction``, of a sample's cost where they are judged so."""
        saving, times = self.saving_fraction, self.times_the_samples
        if saving is None or times is None:
            return saving

        def of_sample(fraction: float) -> float:
            return 1 - (1 - fraction) / times

        return saving.at(of_sample(saving.mean), of_sample(saving.low), of_sample(saving.high))
