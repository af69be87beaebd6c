"""What compilers did, in words: cells of tables, captions, sentences of the report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.ablation import FactorEffect
    from smtc_lab.metrics.compared.break_even import BreakEven
    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.compared.compiler_result import CompilerResult
    from smtc_lab.metrics.parity import ParityResult
    from smtc_lab.metrics.records.compiler_report import CompileTime, Place
    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.text.set_ups import Compared


def has_compilers(comparison: Compared) -> bool:
    """Return whether a set-up asked for a compiler, or set-ups for unlike settings of it.

    Eager settings that all share are what a script does without a compiler.
    """
    known = [
        cluster.compiler for cluster in comparison.clusters if cluster.compiler is not None
    ]
    asked = [compiler.config for compiler in known if compiler.config is not None]
    return any(config.backend != "eager" for config in asked) or compilers_differ(comparison)


def compilers_differ(comparison: Compared) -> bool:
    """Return whether two set-ups asked for unlike settings of a compiler."""
    known = [cluster.compiler for cluster in comparison.clusters]
    asked = [None if compiler is None else compiler.config for compiler in known]
    return any(config != asked[0] for config in asked)


def backend_lines(compiler: CompilerResult) -> tuple[str, ...]:
    """Return the backend that ran, its device, and whether it is a fallback."""
    report = compiler.report
    if report is None:
        return (fmt.plain(compiler.backend),)
    lines = [f"{fmt.plain(compiler.backend)} on {fmt.plain(report.device)}"]
    if compiler.config is not None and compiler.config.backend == "auto":
        lines.append("chosen by auto")
    if report.fell_back_because is not None:
        lines.append("fell back to eager")
    return tuple(lines)


def setting_lines(compiler: CompilerResult) -> tuple[str, ...]:
    """Return the other settings that make a step faster, as they really were."""
    config, report = compiler.config, compiler.report
    if config is None:
        return ("none",)
    fused = None if report is None else report.fused_optimizer
    lines = [f"precision {config.precision}"]
    if fused or (fused is None and config.fused_optimizer):
        lines.append("fused optimizer")
    elif config.fused_optimizer:
        lines.append("optimizer not fused")
    if report is not None and report.keeps_memory:
        lines.append("kept memory")
    return tuple(lines)


def break_even_words(break_even: BreakEven | None) -> str:
    """Return ``167 (154-176)``, ``never``, or that it is the baseline."""
    if break_even is None:
        return "baseline"
    if break_even.steps is None:
        return "never: slower" if break_even.is_slower else "never: no gain seen"
    mean, low, high = (
        f"{math.ceil(steps):,}"
        for steps in (break_even.steps.mean, break_even.steps.low, break_even.steps.high)
    )
    return f"{mean} ({low}\u2013{high})"


def overhead(overhead_s: Interval | None) -> str:
    """Return what the first steps took beyond steady ones; noise can make it negative."""
    if overhead_s is not None and overhead_s.mean <= 0:
        return "none seen"
    return fmt.number_interval(overhead_s)


def parity_words(compiler: CompilerResult) -> str:
    """Return ``yes``, ``no, from step 3 on``, or why that is not known."""
    is_eager = compiler.parity is None and compiler.backends == ("eager",)
    return "it is eager" if is_eager else sameness_words(compiler.parity)


def sameness_words(parity: ParityResult | None) -> str:
    """Return whether the same training came out, and if not, where that began."""
    if parity is None or parity.equal is None:
        return "not checked" if parity is None else "not judged"
    if parity.equal:
        return "yes"
    return "no" if parity.first_step is None else f"no, from step {parity.first_step} on"


def memory(num_bytes: int | None) -> str:
    """Return an amount of memory in GiB, or that it is unknown."""
    return fmt.UNKNOWN if num_bytes is None else fmt.gib(num_bytes)


def place_words(place: Place | None) -> str:
    """Return ``train.py:42``, or that it is unknown."""
    return fmt.UNKNOWN if place is None else f"{fmt.plain(place.file)}:{place.line}"


def change_words(effect: FactorEffect) -> str:
    """Return ``fused optimizer: off to on``."""
    return f"{effect.factor.replace('_', ' ')}: {effect.before} to {effect.after}"


def factors_sentence(comparison: Comparison) -> str:
    """Return what each setting brings by itself in one sentence; there is at least one."""
    effects = [
        f"{change_words(effect)} {fmt.times_interval(effect.speedup)} "
        f"({fmt.plain(effect.second)} against {fmt.plain(effect.first)})"
        for effect in comparison.factors
    ]
    return f"Effect of each setting by itself ({comparison.evidence}): {'; '.join(effects)}."


def cumulative_sentence(comparison: Comparison) -> str:
    """Return overhead and break-even step of each set-up in one sentence."""
    parts = [
        f"{fmt.plain(cluster.name)}: overhead "
        f"{fmt.seconds_interval(cluster.compiler.overhead_s)}, break-even step "
        f"{break_even_words(cluster.compiler.break_even)}"
        for cluster in comparison.clusters
        if cluster.compiler is not None
    ]
    return f"Time saved against the baseline ({comparison.evidence}). {'; '.join(parts)}."


def compile_time_words(time: CompileTime | None) -> str:
    """Return the split of compile time: ``9.8 s in 4 compilations: capture 1.4 s, …``."""
    if time is None:
        return "nothing was compiled"
    parts = {
        "capture": time.capture_s,
        "lowering": time.lowering_s,
        "code generation": time.code_generation_s,
    }
    known = {name: value for name, value in parts.items() if value is not None}
    if known and (rest_s := time.total_s - sum(known.values())) > 0.01 * time.total_s:
        known["the rest"] = rest_s
    split = ", ".join(f"{name} {fmt.seconds(value)}" for name, value in known.items())
    whole = f"{fmt.seconds(time.total_s)} in {fmt.count(time.compilations, 'compilation')}"
    return f"{whole}: {split}" if split else whole


def kernel_words(compiler: CompilerResult) -> str:
    """Return operators before and kernels after: ``412 operators became 131 kernels, …``."""
    report = compiler.report
    if report is None or report.operators is None or report.kernels is None:
        return fmt.UNKNOWN
    text = f"{report.operators:,} operators became {fmt.count(report.kernels, 'kernel')}"
    if report.fused_kernels is None:
        return text
    return f"{text}, {report.fused_kernels:,} of them generated, the rest library calls"


def cache_words(compiler: CompilerResult) -> str:
    """Return hits and hit rate of the persistent cache, and what must be known about it."""
    hits, fraction = compiler.cache_hits, compiler.cache_hit_fraction
    note = compiler.report.cache_note if compiler.report is not None else None
    if hits is None:
        text = "no persistent cache"
    elif fraction is None:
        text = "not asked for any graph"
    else:
        graphs = hits + (compiler.cache_misses or 0)
        text = f"{hits:,} of {fmt.count(graphs, 'graph')} found, {fmt.percent(fraction)}"
    return f"{text}; {fmt.plain(note)}" if note else text


def choice_words(cluster: ClusterResult) -> str:
    """Return why ``auto`` chose what it chose; empty: it did not choose."""
    report = cluster.compiler.report if cluster.compiler is not None else None
    if report is None or report.chosen_because is None:
        return ""
    spent = f" Probing took {fmt.seconds(report.probe_s)}." if report.probe_s > 0 else ""
    return f"{report.chosen_because}{spent}"
