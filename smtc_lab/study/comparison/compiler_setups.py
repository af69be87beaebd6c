"""The compiler settings that a comparison runs side by side, and what tables call them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smtc_lab.errors import SpecError
from smtc_lab.machine.environments.named import XLA, has_environment
from smtc_lab.machine.environments.probe import environment_facts, todays_facts
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_INDUCTOR_ONLY = ("mode", "dynamic", "per_block")


@dataclass(frozen=True, kw_only=True)
class SetUp:
    """One column of a comparison of compilers."""

    label: str
    """What tables call it: ``inductor``, ``eager, fused, kept memory``, …"""

    config: TrainingCompilerConfig
    """Its settings."""

    python_environment: str | None = None
    """Environment that it runs in; None: that of the job."""


def equal_set_ups(backends: Iterable[str], shared: TrainingCompilerConfig) -> tuple[SetUp, ...]:
    """Return one set-up for each backend; all else is equal, so that only compilers differ.

    Args:
        backends: Names, the baseline first.
        shared: Precision, optimizer, memory and all other settings that they have in common.

    Raises:
        SpecError: A backend is unknown, or is named twice.
    """
    return labelled([_under(backend, shared) for backend in backends])


def ablation_set_ups(
    backends: Iterable[str], shared: TrainingCompilerConfig
) -> tuple[SetUp, ...]:
    """Return plain eager, and then set-ups that each add one factor to another one.

    First eager gains kept memory, the fused optimizer and the precision, as far as the shared
    settings have them, one by one; then each compiler takes the place of eager.

    Raises:
        SpecError: A backend is unknown, or is named twice.
    """
    plain = _under("eager", shared).model_copy(
        update={"keep_memory": False, "fused_optimizer": False, "precision": "highest"}
    )
    steps = [plain]
    for factor in ("keep_memory", "fused_optimizer", "precision"):
        wanted = getattr(shared, factor)
        if wanted != getattr(steps[-1], factor):
            steps.append(steps[-1].model_copy(update={factor: wanted}))
    compiled = [_under(backend, shared) for backend in backends if backend != "eager"]
    return labelled([*steps, *compiled])


def labelled(configs: Sequence[TrainingCompilerConfig]) -> tuple[SetUp, ...]:
    """Return settings with labels that name the backend, and what else tells them apart.

    Raises:
        SpecError: There are none, or two are the same.
    """
    if not configs:
        raise SpecError("There is no compiler backend to compare. Name at least one.")
    differing = [
        name
        for name in TrainingCompilerConfig.model_fields
        if name != "backend" and len({getattr(config, name) for config in configs}) > 1
    ]
    set_ups = [SetUp(label=_label(config, differing), config=config) for config in configs]
    labels = [set_up.label for set_up in set_ups]
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise SpecError(
            f"The compiler set-up {twice[0]!r} is given {labels.count(twice[0])} times. Name "
            "each one once."
        )
    return tuple(set_ups)


def with_xla_apart(set_ups: Sequence[SetUp]) -> tuple[SetUp, ...]:
    """Return set-ups of which those of XLA run in its environment, beside eager in it.

    What XLA's own torch is worth is told by eager under both, what XLA is worth by the two of
    its environment. Unchanged where torch_xla is at hand, where its environment is missing, and
    where nothing is compared with eager.
    """
    if todays_facts().why_not_xla is None or not has_environment(XLA):
        return tuple(set_ups)
    torch = environment_facts(XLA).torch or "of XLA"
    told = ".".join(torch.split(".")[:2])
    made = []
    for one in set_ups:
        made.append(replace(one, python_environment=XLA) if _is_xla(one) else one)
        eager = one.config.model_copy(update={"backend": "eager"})
        twins = [it for it in set_ups if it.config == eager] if _is_xla(one) else []
        made += [
            replace(twin, label=f"{twin.label}, torch {told}", python_environment=XLA)
            for twin in twins
        ]
    return tuple(made)


def _is_xla(set_up: SetUp) -> bool:
    return set_up.config.enabled and set_up.config.backend == "xla"


def _under(backend: str, shared: TrainingCompilerConfig) -> TrainingCompilerConfig:
    """Return the shared settings for one backend, without those that only inductor has."""
    fields = shared.model_dump() | {"backend": backend, "enabled": True}
    if backend not in {"inductor", "auto"}:
        for name in _INDUCTOR_ONLY:
            del fields[name]
    return TrainingCompilerConfig(**fields)


def _label(config: TrainingCompilerConfig, differing: Iterable[str]) -> str:
    """Return the backend's name and, of the settings that differ, those that are not plain."""
    if not config.enabled:
        return "as it is"
    words = {
        "precision": "" if config.precision == "highest" else config.precision,
        "fused_optimizer": "fused" if config.fused_optimizer else "",
        "keep_memory": "kept memory" if config.keep_memory else "",
        "mode": "" if config.mode == "default" else config.mode,
        "dynamic": {None: "", True: "any shape", False: "fixed shapes"}[config.dynamic],
        "per_block": {None: "", True: "per block", False: "whole"}[config.per_block],
        "cache": "" if config.cache else "no cache",
        "debug": "debug" if config.debug else "",
    }
    said = [words[name] for name in differing if words.get(name)]
    return ", ".join([config.backend, *said])
