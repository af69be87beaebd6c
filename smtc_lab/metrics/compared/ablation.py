"""What each setting of the compiler brings by itself, so that no gain has the wrong cause."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from smtc_lab.metrics.compared.environments import environment_label
from smtc_lab.metrics.compared.measured_cluster import speedup_of
from smtc_lab.metrics.result import Interval, Result
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster

ENVIRONMENT = "python_environment"
"""The factor that is no setting of the compiler: which Python and torch it all runs on."""

FACTORS = (
    ENVIRONMENT,
    "backend",
    "precision",
    "fused_optimizer",
    "keep_memory",
    "mode",
    "dynamic",
    "per_block",
)
"""Settings that can make a step faster; the others leave steady steps alone."""

_OF_INDUCTOR = ("mode", "dynamic", "per_block")
_PLAIN = TrainingCompilerConfig(backend="eager", fused_optimizer=False, keep_memory=False)


class FactorEffect(Result):
    """Two set-ups that differ in one setting alone."""

    factor: str
    """Name of the setting: ``backend``, ``precision``, ``fused_optimizer``, …"""

    before: str
    """Its value in the first one: ``eager``, ``highest``, ``false``."""

    after: str
    """Its value in the second one."""

    first: str
    """Name of the set-up that has ``before``."""

    second: str
    """Name of the set-up that has ``after``."""

    speedup: Interval
    """Step time of the first over that of the second; above 1: the change makes it faster."""

    memory_ratio: float | None = None
    """Peak memory of the second over that of the first; None: not known."""


def settings(config: TrainingCompilerConfig | None) -> dict[str, Any]:
    """Return the factors of a set-up by name; those without effect have their defaults."""
    used = _PLAIN if config is None or not config.enabled else config
    values = {name: getattr(used, name) for name in FACTORS if name != ENVIRONMENT}
    if used.backend not in {"inductor", "auto"}:
        values |= {name: getattr(_PLAIN, name) for name in _OF_INDUCTOR}
    return values


def _factors(measured: MeasuredCluster) -> dict[str, Any]:
    environment = {ENVIRONMENT: environment_label(measured)}
    return environment | settings(measured.compiler_config)


def differing_settings(first: MeasuredCluster, second: MeasuredCluster) -> list[str]:
    """Return the names of the factors in which two set-ups differ."""
    one, other = _factors(first), _factors(second)
    return [name for name in FACTORS if one[name] != other[name]]


def differ_in_compiler_only(first: MeasuredCluster, second: MeasuredCluster) -> bool:
    """Return whether two set-ups ran one script on like instances, compiled in two ways."""
    differing = set(differing_settings(first, second))
    return bool(differing - {ENVIRONMENT}) and _has_like_jobs(first, second)


def factor_effects(measured: Sequence[MeasuredCluster]) -> tuple[FactorEffect, ...]:
    """Return the effect of each factor, of every two set-ups that differ in it alone.

    In the order of ``FACTORS``; the earlier set-up of the comparison comes first. A backend is
    told against eager only, and ``auto`` not at all, since it is no setting of its own.
    """
    found = []
    for first, second in combinations(measured, 2):
        differing = differing_settings(first, second)
        if len(differing) != 1 or not _has_like_jobs(first, second):
            continue
        factor = differing[0]
        backends = {settings(one.compiler_config)["backend"] for one in (first, second)}
        if factor == "backend" and ("eager" not in backends or "auto" in backends):
            continue
        found.append((factor, first, second))
    found.sort(key=lambda effect: FACTORS.index(effect[0]))
    return tuple(_effect(*each, candidates=len(found)) for each in found)


def _effect(
    factor: str, first: MeasuredCluster, second: MeasuredCluster, *, candidates: int
) -> FactorEffect:
    """Return what a factor does; the interval is over all factors that are told."""
    return FactorEffect(
        factor=factor,
        before=_shown(_factors(first)[factor]),
        after=_shown(_factors(second)[factor]),
        first=first.label,
        second=second.label,
        speedup=speedup_of(first, second, candidates=candidates),
        memory_ratio=_memory_ratio(first, second),
    )


def _has_like_jobs(first: MeasuredCluster, second: MeasuredCluster) -> bool:
    """Return whether the jobs are alike but for names, lengths and the compiler."""
    one, other = (
        cluster.launches[0].run.job.model_copy(
            update={
                "job_name": None,
                "max_steps": None,
                "compiler_config": None,
                "python_environment": None,
                "cluster": cluster.cluster.model_copy(update={"name": None}),
            }
        )
        for cluster in (first, second)
    )
    return one == other


def _memory_ratio(first: MeasuredCluster, second: MeasuredCluster) -> float | None:
    one, other = first.peak_memory_bytes, second.peak_memory_bytes
    return other / one if one and other else None


def _shown(value: object) -> str:
    return {True: "on", False: "off", None: "by itself"}.get(value, str(value))  # type: ignore[call-overload,no-any-return]
