from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.batch.batch_sizes import BatchSizes, BatchTrial, backend_batches
from smtc_lab.views.batch.sizes import batch_sizes_text, published_text, trial_text

if TYPE_CHECKING:
    from tests.kit.golden_texts import GoldenTexts


def trial(batch_size: int, speed: float | None = None, reason: str | None = None) -> BatchTrial:
    return BatchTrial(
        batch_size=batch_size,
        fits=reason is None,
        samples_per_s=speed,
        reason=reason,
        run="train-eager-b8",
    )


def sizes(*, memory_limit_bytes: int | None = 2**31) -> BatchSizes:
    full = "out of memory (MemoryError)"
    return BatchSizes(
        created="2026-11-21T12:00:00+00:00",
        entry_point="train.py",
        hyperparameter="batch_size",
        steps=10,
        memory_limit_bytes=memory_limit_bytes,
        backends=(
            backend_batches("eager", [trial(8, 80), trial(16, 95.5), trial(24, reason=full)]),
            backend_batches("inductor", [trial(8, 110.0), trial(16, reason=full)]),
            backend_batches("xla", [trial(8, reason=full)]),
        ),
        machine={},
    )


def test_trials_and_batches_in_words(golden_texts: GoldenTexts) -> None:
    golden_texts(
        "batches",
        {
            "with a memory limit": batch_sizes_text(sizes()),
            "without one": batch_sizes_text(sizes(memory_limit_bytes=None)),
            "a trial that fits": trial_text("xla", trial(8, 80.0)),
            "a trial that does not": trial_text("xla", trial(8, reason="no data")),
            "published": published_text("gpt2"),
            "not published": published_text("lenet"),
        },
    )
