from __future__ import annotations

from smtc_lab.metrics.batch.batch_sizes import BatchSizes, BatchTrial, backend_batches
from smtc_lab.views.batch.sizes import batch_sizes_text, trial_text


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


def test_the_table_shows_every_trial_of_every_compiler() -> None:
    lines = batch_sizes_text(sizes()).splitlines()

    assert lines[1].split() == ["batch", "eager", "inductor", "xla"]
    assert lines[2].split() == ["8", "80.0/s", "110.0/s", "does", "not", "fit"]
    assert lines[3].split() == ["16", "95.5/s", "does", "not", "fit", "-"]
    assert lines[4].split() == ["24", "does", "not", "fit", "-", "-"]


def test_a_batch_that_is_smaller_than_eager_is_told_as_nothing_unusual() -> None:
    text = batch_sizes_text(sizes())

    assert "eager: the largest batch that fits is 16 (24 does not: out of memory" in text
    assert "inductor: the largest batch that fits is 8 " in text
    assert text.count("which is nothing unusual") == 1
    assert "less than eager's 16" in text
    assert "xla: no batch fits. out of memory" in text


def test_the_memory_limit_is_named_where_there_is_one() -> None:
    assert "Memory limit: 2.00 GiB" in batch_sizes_text(sizes())
    assert "Memory limit" not in batch_sizes_text(sizes(memory_limit_bytes=None))


def test_a_trial_is_one_line() -> None:
    assert trial_text("xla", trial(8, 80.0)) == "xla: batch size 8 fits, 80.0/s"
    assert trial_text("xla", trial(8, reason="no data")) == (
        "xla: batch size 8 does not fit: no data"
    )
