"""What was seen of the compiler of one set-up, over all its launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.compared.break_even import (
    BreakEven,
    JobTime,
    job_times,
    overhead_interval,
)
from smtc_lab.metrics.parity import ParityResult
from smtc_lab.metrics.records.compiler_report import CompilerReport
from smtc_lab.metrics.result import Interval, Result
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster


class CompilerResult(Result):
    """What was seen of the compiler of one set-up, over all its launches."""

    config: TrainingCompilerConfig | None
    """What was asked for; None: nothing, the script ran as it is."""

    backends: tuple[str, ...]
    """Backends that ran in the end, each once; more than one: launches chose differently."""

    overhead_s: Interval
    """Time that the first steps took beyond as many steady ones, in seconds: compiling, and
    what every first step pays."""

    job_times: tuple[JobTime, ...]
    """Predicted time of jobs of several lengths."""

    break_even: BreakEven | None = None
    """When it has caught up with the baseline; None: it is the baseline."""

    peak_memory_bytes: int | None = None
    """Most memory that a trainer of any launch held; None: not known."""

    cache_hits: int | None = None
    """Graphs that came out of the persistent cache, all launches; None: there is none."""

    cache_misses: int | None = None
    """Graphs that did not, all launches; None: there is no persistent cache."""

    report: CompilerReport | None = None
    """What the first trainer of the first launch told, for its lists of places; None: the
    script ran as it is, or the report is lost."""

    parity: ParityResult | None = None
    """Whether it learns what the eager model learns; None: not checked."""

    @property
    def backend(self) -> str:
        """The backend that ran, for people."""
        return " or ".join(self.backends)

    @property
    def cache_hit_fraction(self) -> float | None:
        """Share of the graphs that came out of the cache; None: no cache, or no graph."""
        if self.cache_hits is None or self.cache_misses is None:
            return None
        graphs = self.cache_hits + self.cache_misses
        return self.cache_hits / graphs if graphs else None


def compiler_result(
    measured: MeasuredCluster,
    *,
    step_time_s: Interval,
    parity: ParityResult | None = None,
) -> CompilerResult:
    """Return what was seen of the compiler of one set-up; its break-even is left open.

    Args:
        measured: The launches.
        step_time_s: Their steady step time.
        parity: What the parity launches showed; None: there were none.
    """
    config = measured.compiler_config
    reports = measured.compiler_reports
    overhead = overhead_interval(measured)
    asked = "eager" if config is None else config.backend
    job = measured.launches[0]
    steps = len(job.warm_up_time_s) + len(job.step_time_s)
    return CompilerResult(
        config=config,
        backends=tuple(dict.fromkeys(report.backend for report in reports)) or (asked,),
        overhead_s=overhead,
        job_times=job_times(overhead_s=overhead, step_time_s=step_time_s, job_steps=steps),
        peak_memory_bytes=measured.peak_memory_bytes,
        cache_hits=_total([report.cache_hits for report in reports]),
        cache_misses=_total([report.cache_misses for report in reports]),
        report=reports[0] if reports else None,
        parity=parity,
    )


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
