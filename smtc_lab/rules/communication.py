"""What trainers lose to the exchange of their gradients, and to the slowest of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.finding import Finding
from smtc_lab.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from smtc_lab.rules.observation import Observation

EXPOSED = 0.1
"""From this share of the step on, exposed communication is worth a sentence."""

SMALL_MODEL_BYTES = 100e6
"""Gradients below which torch's own buckets of 25 MB hide next to nothing."""

BUCKETS = 8
"""Buckets that were found to hide most of what can be hidden."""

_LEAST_BUCKET_BYTES = 1.25 * 2**20
"""Buckets of up to 1 MiB, filled by whole parameters, are torch's first and its compiler's
smallest: ``Session.prepare`` makes none smaller."""

STRAGGLER = 0.05
"""From this share of the step on, waiting for a slower rank is worth a sentence."""

_MOSTLY = 2 / 3
"""Share of the steps in which it is the same rank that the others wait for."""

_BATCH_NAMES = ("batch_size", "batch-size", "train_batch_size")
_GATHERED_TWICE = 1.5
"""Bytes of gathered parameters over those of gradients, from which they are gathered again."""

_HOOK = (
    "model.register_comm_hook(None, torch.distributed.algorithms.ddp_comm_hooks"
    ".default_hooks.fp16_compress_hook)"
)


class CommunicationRule(Rule):
    """Finds how the exchange of gradients could cost less, from 30 measured steps on."""

    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield what is to say of buckets, their size, accumulation, stragglers, batch."""
        yield from _divided_batch(seen)
        exposed = _share(seen, "exposed_comm_s")
        if exposed is not None:
            if exposed >= EXPOSED * seen.ease("communication") and seen.is_enough_for(
                "communication"
            ):
                yield _exposed(seen, exposed)
            yield from _accumulation(seen)
        yield from _straggler(seen)


def _exposed(seen: Observation, exposed: float) -> Finding:
    """Return what is to do about communication that is not hidden."""
    comm_s = _mean(seen, "exposed_comm_s") + _mean(seen, "hidden_comm_s")
    backward_s = _mean(seen, "backward_s")
    num_bytes, buckets = _mean(seen, "comm_bytes"), _mean(seen, "num_buckets")
    gathered = _mean(seen, "gathered_bytes")
    what = f"gradients ({num_bytes / 1e6:.3g} MB in {buckets:.0f} buckets)"
    if gathered:
        what = (
            f"shards (gradients {num_bytes / 1e6:.3g} MB, parameters {gathered / 1e6:.3g} MB, "
            f"in {buckets:.0f} collectives)"
        )
    sentence = (
        f"{100 * exposed:.0f} % of each step is spent on exchanging {what}, with nothing "
        "computed beside it."
    )
    fix, action = "Use a faster network, or fewer and larger instances.", ""
    if gathered > _GATHERED_TWICE * num_bytes:
        fix = (
            "Keep the parameters between the forward and the backward pass, if they fit into "
            "memory, so that they are gathered once; or shard inside instances, and replicate "
            "between them."
        )
        action = "model.set_reshard_after_forward(False)"
    elif gathered:
        fix = "Shard inside instances and replicate between them, or use a faster network."
    elif not backward_s:  # replicas of a pipeline average when all is computed
        fix = (
            "Replicas of a pipeline average gradients after the last microbatch: let a step "
            "have more microbatches, or use a faster network."
        )
    elif num_bytes < SMALL_MODEL_BYTES and buckets < BUCKETS - 1 and _are_large(seen):
        mb = max(0.1, round(num_bytes / BUCKETS / 2**20, 1))
        fix = (
            f"Exchange about {BUCKETS} buckets, so that they go beside the backward pass. "
            "Session.prepare() cuts them so by itself."
        )
        action = f"DistributedDataParallel(model, bucket_cap_mb={mb:g})"
    elif comm_s > backward_s:
        fix = (
            f"The exchange ({1e3 * comm_s:.3g} ms) takes longer than the backward pass "
            f"({1e3 * backward_s:.3g} ms), so no order hides it: send half the bytes."
        )
        action = _HOOK
    return Finding(
        kind="communication",
        sentence=sentence,
        fix=fix,
        action=action,
        cost=seen.cost_in_steps(_known(seen, "exposed_comm_s")),
    )


def _are_large(seen: Observation) -> bool:
    """Return whether buckets can be cut smaller; those of ``Session.prepare`` cannot."""
    buckets = max(1.0, _mean(seen, "num_buckets"))
    return _mean(seen, "comm_bytes") / buckets > _LEAST_BUCKET_BYTES


def _accumulation(seen: Observation) -> Iterable[Finding]:
    syncs = _mean(seen, "num_syncs")
    if syncs < 2 or not seen.is_enough_for("accumulation"):
        return
    wasted = 1 - 1 / syncs
    fix = "Run all but the last backward pass of a step within model.no_sync()."
    action = "with model.no_sync():"
    if _mean(seen, "gathered_bytes"):
        fix = (
            "Exchange no gradients in all but the last backward pass of a step, if they fit "
            "into memory."
        )
        action = "model.set_requires_gradient_sync(False)"
    yield Finding(
        kind="accumulation",
        sentence=(
            f"Gradients are averaged {syncs:.3g} times for each optimizer step, though only "
            "the last time is needed."
        ),
        fix=fix,
        action=action,
        cost=seen.cost_in_steps(_known(seen, "exposed_comm_s") * wasted),
    )


def _straggler(seen: Observation) -> Iterable[Finding]:
    waits = _share(seen, "rank_wait_s")
    if waits is None or waits < STRAGGLER * seen.ease("straggler"):
        return
    if not seen.is_enough_for("straggler"):
        return
    waits_s, least_s = _mean(seen, "rank_wait_s"), _mean(seen, "least_rank_wait_s")
    name = _waited_for(seen) if _is_one_rank(waits_s, least_s) else None
    who, fix = "the slowest of them", "a rank"
    if name is not None:
        host, _, number = name.rpartition("-rank")
        who, fix = f"rank {number} on {host}, which waits for nobody itself", "one"
    elif _is_one_rank(waits_s, least_s):
        who += ", which waits for nobody itself"
    yield Finding(
        kind="straggler",
        sentence=f"Trainers wait in {100 * waits:.0f} % of each step for {who}.",
        fix=(
            f"Look at the ranks' times: {fix} with more data to prepare, longer samples or a "
            "busy host holds all others up."
        ),
        cost=seen.cost_in_steps(_known(seen, "rank_wait_s")),
    )


def _waited_for(seen: Observation) -> str | None:
    """Return the name of the rank that the others wait for in most steps; None: no such one."""
    places = _known(seen, "waited_for_rank").astype(int)
    if not places.size:
        return None
    counts = np.bincount(places)
    place = int(counts.argmax())
    is_mostly = counts[place] >= _MOSTLY * places.size
    return seen.ranks[place] if is_mostly and place < len(seen.ranks) else None


def _divided_batch(seen: Observation) -> Iterable[Finding]:
    """Say so where the script divides the batch that it was given by the trainers."""
    samples = seen.measured.steps[STEP["first_rank_samples"]]
    whole = seen.measured.steps[STEP["num_samples"]]
    known = np.isfinite(samples) & np.isfinite(whole) & (samples > 0)
    if not known.any():
        return
    of_rank, of_all = float(np.median(samples[known])), float(np.median(whole[known]))
    asked = next(
        (
            value
            for name in _BATCH_NAMES
            if isinstance(value := seen.job.hyperparameters.get(name), int)
        ),
        None,
    )
    if asked is None or of_all != asked or of_rank >= asked:
        return
    if not seen.is_enough_for("divided_batch"):
        return
    yield Finding(
        kind="divided_batch",
        severity="note",
        sentence=(
            f"The batch of {asked} samples is divided: each trainer computes {of_rank:.0f} of "
            "them, and exchanges as many gradients as with all."
        ),
        fix=(
            "Keep the batch of each device, and adapt the learning rate to the larger whole; "
            "divide it only where the whole must stay as it is."
        ),
    )


def _is_one_rank(mean_s: float, least_s: float) -> bool:
    """Return whether a rank waits for nobody: then it is the one that is waited for."""
    return least_s < 0.1 * mean_s


def _known(seen: Observation, name: str) -> NDArray[np.float64]:
    values: NDArray[np.float64] = seen.measured.steps[STEP[name]]
    return values[np.isfinite(values)]


def _mean(seen: Observation, name: str) -> float:
    values = _known(seen, name)
    return float(values.mean()) if values.size else 0.0


def _share(seen: Observation, name: str) -> float | None:
    """Return the share of the ranks' step time; None: not known of any step."""
    values = seen.measured.steps[STEP[name]]
    known = np.isfinite(values)
    if not known.any():
        return None
    times_s = seen.measured.steps[STEP["rank_time_s"]][known].sum()
    return float(values[known].sum() / times_s) if times_s > 0 else None
