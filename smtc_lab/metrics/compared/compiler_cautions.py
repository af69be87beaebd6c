"""What a reader must know before crediting a compiler with a ratio."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from smtc_lab.metrics.cautions.limits import MORE_STEPS
from smtc_lab.metrics.compared.ablation import differing_settings
from smtc_lab.metrics.finding import caution

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from smtc_lab.metrics.compared.comparison import ClusterResult
    from smtc_lab.metrics.compared.compiler_result import CompilerResult
    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster
    from smtc_lab.metrics.finding import Finding

_LOOK = "Look into its logs with 'smtc-lab runs show NAME --log'."


def compiler_cautions(
    measured: Sequence[MeasuredCluster], results: Sequence[ClusterResult]
) -> Iterable[Finding]:
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


def _about_set_up(name: str, compiler: CompilerResult) -> Iterable[Finding]:
    report, parity = compiler.report, compiler.parity
    if report is not None and report.fell_back_because is not None:
        why = report.fell_back_because.rstrip(". ")
        yield caution("fallback", f"{name} ran eagerly, not with what was asked for: {why}.")
    if report is not None and report.backend != "eager" and report.compile_time is None:
        yield caution(
            "no_compilation",
            f"{name} names {report.backend} as its backend, but tells of no compilation, so it "
            "may have run eagerly.",
            _LOOK,
        )
    if parity is not None and parity.equal is False:
        yield caution(
            "parity",
            f"{name} does not learn what eager learns: {parity.verdict}. Its speed is that of "
            "other numbers.",
            "Leave it out, or find the cause in that step.",
        )
    if parity is not None and parity.equal is None:
        yield caution(
            "parity", f"Whether {name} learns what eager learns was {parity.verdict}."
        )
    if len(compiler.backends) > 1:
        yield caution(
            "mixed_backends",
            f"Launches of {name} ran under different backends ({compiler.backend}), so its "
            "mean is that of a mixture.",
            f"{MORE_STEPS}, or name one backend.",
        )
    if compiler.config is not None and report is None:
        yield caution(
            "no_report",
            f"{name} left no report of its compiler, so its graphs and its memory are unknown.",
            _LOOK,
        )


def _about_factors(
    baseline: MeasuredCluster, candidate: MeasuredCluster, told: AbstractSet[str]
) -> Iterable[Finding]:
    """Yield what a ratio is made of, where some of it was not measured by itself."""
    differing = differing_settings(baseline, candidate)
    if len(differing) > 1 and not told >= set(differing):
        names = " and ".join(name.replace("_", " ") for name in differing)
        yield caution(
            "unlike_settings",
            f"{candidate.label} and {baseline.label} differ in {names} at once, so their ratio "
            "is that of all of them together.",
            "See what each brings by itself (ablation=True, --ablation).",
        )
