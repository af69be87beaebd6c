"""What a reader must know before crediting a compiler with a ratio, one sentence each."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from smtc_lab.metrics.ablation import differing_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from smtc_lab.metrics.comparison import ClusterResult
    from smtc_lab.metrics.compiler_result import CompilerResult
    from smtc_lab.metrics.measured_cluster import MeasuredCluster


def compiler_cautions(
    measured: Sequence[MeasuredCluster], results: Sequence[ClusterResult]
) -> Iterable[str]:
    """Return every caution about the compilers of a comparison, the gravest first."""
    for result in results:
        if result.compiler is not None:
            yield from _about_set_up(result.name, result.compiler)
    if any(result.compiler is not None for result in results):
        told = {
            differing[0]
            for first, second in combinations(measured, 2)
            if len(differing := differing_settings(first, second)) == 1
        }
        for cluster in measured[1:]:
            yield from _about_factors(measured[0], cluster, told)


def _about_set_up(name: str, compiler: CompilerResult) -> Iterable[str]:
    report, parity = compiler.report, compiler.parity
    if report is not None and report.fell_back_because is not None:
        yield (
            f"{name} ran eagerly, not with what was asked for: "
            f"{report.fell_back_because.rstrip('. ')}."
        )
    if report is not None and report.backend != "eager" and report.compile_time is None:
        yield (
            f"{name} names {report.backend} as its backend, but tells of no compilation, so it "
            "may have run eagerly. Look into its logs with 'smtc-lab runs show NAME --log'."
        )
    if parity is not None and parity.equal is False:
        yield (
            f"{name} does not learn what eager learns: {parity.verdict}. Its speed is that of "
            "other numbers. Leave it out, or find the cause in that step."
        )
    if parity is not None and parity.equal is None:
        yield f"Whether {name} learns what eager learns was {parity.verdict}."
    if len(compiler.backends) > 1:
        yield (
            f"Launches of {name} ran under different backends ({compiler.backend}), so its "
            "mean is that of a mixture. Raise max_steps, or name one backend."
        )
    if compiler.config is not None and report is None:
        yield (
            f"{name} left no report of its compiler, so its graphs and its memory are unknown. "
            "Look into its logs with 'smtc-lab runs show NAME --log'."
        )


def _about_factors(
    baseline: MeasuredCluster, candidate: MeasuredCluster, told: AbstractSet[str]
) -> Iterable[str]:
    """Yield what a ratio is made of, where some of it was not measured by itself."""
    differing = differing_settings(baseline, candidate)
    if len(differing) > 1 and not told >= set(differing):
        names = " and ".join(name.replace("_", " ") for name in differing)
        yield (
            f"{candidate.label} and {baseline.label} differ in {names} at once, so their ratio "
            "is that of all of them together. Compare with --ablation to see what each brings "
            "by itself."
        )
