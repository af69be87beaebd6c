"""What stages of one model lose to waiting for each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.instance_types import usable_device_bytes
from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.finding import Cost, Finding
from smtc_lab.metrics.pipeline.bubble import ideal_bubble, idle_share
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.pipeline.times import PipelineTimes, StageTimes
    from smtc_lab.rules.observation import Observation

LARGE_BUBBLE = 0.15
"""From this share of a step on, ranks that are idle are worth a sentence."""

UNEVEN = 1.2
"""From this slowest over mean stage on, another cut is worth a sentence."""

_GOOD_BUBBLE = 0.1
_MOST_FACTOR = 16
_ALONE = 0.9
"""A module with this share of its stage's operations is what bounds it."""

_GATHERED_BLOCKS = 2
"""Layers whose parameters FSDP2 has whole at once: one computes, one is gathered ahead."""


class PipelineRule(Rule):
    """Finds bubbles that more microbatches shrink, uneven cuts, and models that need none."""

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield what is to say of microbatches, of the cut, and of sharding instead."""
        times = seen.pipeline
        if times is None or times.bubble is None:
            return
        yield from _bubble(seen, times)
        yield from _uneven(seen, times)
        yield from _sharded(seen, times)


def _bubble(seen: Observation, times: PipelineTimes) -> Iterable[Finding]:
    idle = _idle(times)
    if times.ideal_bubble is None or idle < LARGE_BUBBLE * seen.ease("bubble"):
        return
    if times.ideal_bubble < _GOOD_BUBBLE or not seen.is_enough_for("bubble"):
        return
    more = _more_microbatches(seen, times)
    ranks = len(times.ranks)
    sentence = (
        f"The {ranks} ranks of the pipeline are idle for {100 * idle:.0f} % of each step: "
        f"{times.microbatches} microbatches fill and empty it, for which {times.schedule} "
        f"needs {100 * idle_share(times.ideal_bubble):.0f} %."
    )
    if more is None:
        fix = (
            "Take a larger batch, and more microbatches of it: the batch cannot be divided any "
            "further."
        )
        yield Finding(kind="bubble", sentence=sentence, fix=fix, cost=Cost(fraction=idle))
        return
    count, then = more
    gain = (times.ideal_bubble - then) / (1 + (times.bubble or 0.0))
    yield Finding(
        kind="bubble",
        sentence=sentence,
        fix=(
            f"Divide the batch into {count} microbatches: by the formula "
            f"{100 * idle_share(then):.0f} % are left, and a step takes {100 * gain:.0f} % "
            "less, if smaller microbatches keep the devices as busy."
        ),
        action=_distribution(times, microbatches=count),
        cost=Cost(fraction=min(1.0, gain), evidence="predicted"),
    )


def _more_microbatches(seen: Observation, times: PipelineTimes) -> tuple[int, float] | None:
    """Return microbatches that leave a small bubble, and which; None: there cannot be more."""
    samples = seen.measured.steps[STEP["first_rank_samples"]]
    known = samples[np.isfinite(samples)]
    batch = int(np.median(known)) if known.size else None
    best = None
    factor = 2
    while factor <= _MOST_FACTOR:
        count = factor * times.microbatches
        if batch is not None and (batch % count or count > batch):
            break
        then = ideal_bubble(
            times.schedule,
            ranks=len(times.ranks),
            stages=len(times.stages),
            microbatches=count,
        )
        if then is None:
            break
        best = (count, then)
        if then < _GOOD_BUBBLE:
            break
        factor *= 2
    return best


def _uneven(seen: Observation, times: PipelineTimes) -> Iterable[Finding]:
    if times.imbalance is None or times.imbalance < UNEVEN * seen.ease("uneven_stages"):
        return
    if not seen.is_enough_for("uneven_stages"):
        return
    slowest = max(times.stages, key=_took_s)
    sentence = (
        f"Stage {slowest.stage} ({_modules(slowest)}) takes {times.imbalance:.2g} times as "
        "long as the mean stage, and all others wait for it."
    )
    alone = slowest.largest_fraction
    if alone >= _ALONE * slowest.flops_fraction and alone * len(times.stages) > 1:
        sentence += (
            f" {slowest.largest_module} alone is {100 * alone:.0f} % of the step, so no cut is "
            f"more than {1 / alone:.2g} times as fast as one device."
        )
        action = ""
        fix = (
            f"Split {slowest.largest_module} into several modules, or take fewer stages: more "
            f"than {max(1, round(1 / alone))} bring nothing."
        )
    else:
        fix, action = _moved(times, slowest)
    yield Finding(
        kind="uneven_stages",
        sentence=sentence,
        fix=fix,
        action=action,
        cost=Cost(fraction=1 - 1 / times.imbalance, evidence="at most"),
    )


def _moved(times: PipelineTimes, slowest: StageTimes) -> tuple[str, str]:
    """Return what moves work to the faster neighbour of a stage."""
    others = [one for one in times.stages if abs(one.stage - slowest.stage) == 1]
    if slowest.num_modules < 2 or not others:
        return "Split its module into several, so that a cut can run between them.", ""
    faster = min(others, key=_took_s)
    moved = slowest.first_module if faster.stage < slowest.stage else slowest.last_module
    fix = (
        f"Its operations are {100 * slowest.flops_fraction:.0f} % of the model's, which the "
        f"cut counts, but not what bounds them: put {moved} on stage {faster.stage}, and "
        "compare."
    )
    return fix, _distribution(times, pins={moved: faster.stage})


def _sharded(seen: Observation, times: PipelineTimes) -> Iterable[Finding]:
    """Say so where the same devices could hold the model in shards, and none would wait."""
    idle, holds = _idle(times), _device_bytes(seen)
    if holds is None or idle < LARGE_BUBBLE * seen.ease("shard_instead"):
        return
    ranks = len(times.ranks)
    needed = (
        sum(one.static_bytes for one in times.stages) / ranks
        + _GATHERED_BLOCKS * max(one.largest_bytes for one in times.stages)
        + sum(one.activation_bytes for one in times.stages) * times.microbatches / ranks
    )
    if needed > holds or not seen.is_enough_for("shard_instead"):
        return
    yield Finding(
        kind="shard_instead",
        severity="note",
        sentence=(
            f"The model does not need a pipeline: in shards over the same {ranks} devices "
            f"(FSDP2) each would hold {needed / 2**30:.3g} GiB, as predicted from its modules, "
            f"of {holds / 2**30:.3g} GiB that it can, and none would be idle for want of a "
            "stage."
        ),
        fix=f"Compare with shard={ranks}, which also exchanges parameters in each step.",
        action=f'distribution={{"shard": {ranks}}}',
        cost=Cost(fraction=idle, evidence="at most"),
    )


def _distribution(times: PipelineTimes, **changed: object) -> str:
    """Return what a job says of the same pipeline, but for a change."""
    same = {
        "pipeline": len(times.ranks),
        "microbatches": times.microbatches,
        "schedule": times.schedule,
    }
    return f"distribution={json.dumps({**same, **changed})}"


def _device_bytes(seen: Observation) -> float | None:
    """Return what the smallest device of the pipeline can hold; None: unknown."""
    known = Catalog.load().instance_types
    sizes = [
        usable_device_bytes(known[group.instance_type])
        for group in seen.job.cluster.instance_groups
        if group.instance_type in known and known[group.instance_type].has_accelerator
    ]
    found = [size for size in sizes if size is not None]
    return min(found) if found and len(found) == len(sizes) else None


def _idle(times: PipelineTimes) -> float:
    return idle_share(times.bubble or 0.0)


def _took_s(stage: StageTimes) -> float:
    return (stage.forward_s or 0.0) + (stage.backward_s or 0.0)


def _modules(stage: StageTimes) -> str:
    first, last = stage.first_module, stage.last_module
    return first if first == last else f"{first} to {last}"
