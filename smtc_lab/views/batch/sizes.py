"""Batch sizes as text: what fits under each compiler, and how fast it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.catalog.published_batches import SOURCE, SOURCE_DATE, published_batches_like
from smtc_lab.metrics.batch.learning_rate import scaled_learning_rate
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.batch.batch_sizes import BackendBatches, BatchSizes, BatchTrial

_GIB = 2**30


def batch_sizes_text(sizes: BatchSizes) -> str:
    """Return the table of all trials, and below it what it says."""
    labels = [item.backend for item in sizes.backends]
    width = max(14, *(len(label) + 2 for label in labels))
    lines = [
        f"Samples per second by {sizes.hyperparameter}; one launch of {sizes.steps} steps each",
        f"{'batch':>8}" + "".join(f"{label:>{width}}" for label in labels),
    ]
    for batch_size, cells in trial_rows(sizes):
        lines.append(f"{batch_size:>8}" + "".join(f"{cell:>{width}}" for cell in cells))
    return "\n".join([*lines, "", *sentences(sizes)])


def trial_rows(sizes: BatchSizes) -> list[tuple[int, list[str]]]:
    """Return each batch that was tried, with how fast each set-up took it."""
    tried = sorted({trial.batch_size for item in sizes.backends for trial in item.trials})
    return [(size, [_cell(item, size) for item in sizes.backends]) for size in tried]


def sentences(sizes: BatchSizes) -> list[str]:
    """Return what was found, in one sentence for each compiler, and the limit."""
    baseline = sizes.backends[0]
    found = [_sentence(item, baseline) for item in sizes.backends]
    if sizes.memory_limit_bytes is not None:
        found.append(
            f"Memory limit: {sizes.memory_limit_bytes / _GIB:.2f} GiB for a trainer's data, "
            "Python's and torch's own included."
        )
    return found


def learning_rate_text(
    sizes: BatchSizes,
    *,
    learning_rate: float,
    batch_size: int,
    optimizer: str,
    weight_decay: float | None,
) -> str:
    """Return the learning rates to try at the fastest and the largest batch of each compiler.

    Args:
        sizes: What was found.
        learning_rate: The one that suits ``batch_size``.
        batch_size: Value of the same hyperparameter.
        optimizer: Class name of the optimizer.
        weight_decay: The one that suits ``batch_size``; None: it stays.
    """
    found = {
        size
        for item in sizes.backends
        for size in (item.fastest, item.largest)
        if size is not None
    }
    lines = []
    for size in sorted(found):
        rate = scaled_learning_rate(
            learning_rate,
            batch_size=batch_size,
            new_batch_size=size,
            optimizer=optimizer,
            weight_decay=weight_decay,
        )
        decay = "" if rate.weight_decay is None else f", weight decay {rate.weight_decay:.3g}"
        lines.append(
            f"Batch {size}: try learning rate {rate.learning_rate:.3g}{decay}, warm-up of "
            f"{rate.warm_up_steps} steps. {rate.reason}"
        )
    return "\n".join(lines)


def published_text(model: str) -> str:
    """Return the batches that SageMaker published of a model, native and compiled."""
    rows = published_batches_like(model)
    if not rows:
        return f"SageMaker published no batches of a model whose name begins with {model!r}."
    lines = [
        f"Published largest batches of a GPU, native -> compiled ({SOURCE}, {SOURCE_DATE}):"
    ]
    for row in rows:
        length = "" if row.sequence_length is None else f", {row.sequence_length} tokens"
        lines.append(
            f"  {row.model}, {row.framework}, {row.instance_type}{length}: "
            f"{row.native_batch_size} -> {row.compiled_batch_size} ({row.growth:.2f}x)"
        )
    return "\n".join(lines)


def write_batch_figure(sizes: BatchSizes, target: Path) -> None:
    """Write the chart of throughput against batch size as PNG or, by its name, SVG."""
    # matplotlib takes seconds to import; the table is shown without it
    from smtc_lab.views.batch.figure import BatchCurve, throughput_figure  # noqa: PLC0415
    from smtc_lab.views.figures.frame import rendered  # noqa: PLC0415
    from smtc_lab.views.figures.theme import LIGHT  # noqa: PLC0415

    curves = []
    for item in sizes.backends:
        points = [
            (trial.batch_size, trial.samples_per_s)
            for trial in item.trials
            if trial.fits and trial.samples_per_s is not None
        ]
        curves.append(
            BatchCurve(
                name=item.backend,
                batch_sizes=[size for size, _ in points],
                samples_per_s=[speed for _, speed in points],
                least_too_large=None if item.ends_with_dataset else item.smallest_too_large,
            )
        )
    subtitle = f"{sizes.entry_point}, one launch of {sizes.steps} steps each"
    if sizes.memory_limit_bytes is not None:
        subtitle += f", memory limit {sizes.memory_limit_bytes / _GIB:.2f} GiB"
    figure = throughput_figure(curves, subtitle=subtitle)
    is_svg = target.suffix.lower() == ".svg"
    target.write_bytes(rendered(figure, LIGHT, "svg" if is_svg else "png"))


def trial_text(backend: str, trial: BatchTrial) -> str:
    """Return one trial in one line."""
    if trial.fits:
        said = f"fits, {_rate(trial)}"
    elif trial.fits is None:
        said = f"failed: {trial.reason}"
    elif trial.is_beyond_dataset:
        said = f"was not full: {trial.reason}"
    else:
        said = f"does not fit: {trial.reason}"
    return f"{backend}: batch size {trial.batch_size} {said}"


def _sentence(item: BackendBatches, baseline: BackendBatches) -> str:
    if not item.trials:
        return f"{item.backend}: nothing was tried yet."
    if item.largest is None:
        said = "no batch fits" if item.problem is None else "whether batches fit is not known"
        return f"{item.backend}: {said}. {item.problem or item.limit}"
    words = f"{item.backend}: the largest batch that fits is {item.largest}"
    if item.ends_with_dataset:
        words += f", and no larger one was full: {item.limit}"
    elif item.smallest_too_large is not None:
        words += f" ({item.smallest_too_large} does not: {item.limit})"
    if item.fastest is not None:
        words += (
            f"; in one launch each, which claims nothing, {item.fastest} gave most samples per "
            f"second, {fmt.number(item.most_samples_per_s)}"
        )
    words += "."
    if baseline.largest is not None and item.largest < baseline.largest:
        words += (
            f" That is less than {baseline.backend}'s {baseline.largest}, which is nothing "
            "unusual: compilers trade memory for time."
        )
    return words if item.problem is None else f"{words} The search ended early: {item.problem}"


def _cell(item: BackendBatches, batch_size: int) -> str:
    for trial in item.trials:
        if trial.batch_size == batch_size:
            if trial.fits:
                return _rate(trial)
            if trial.fits is None:
                return "failed"
            return "not full" if trial.is_beyond_dataset else "does not fit"
    return "-"


def _rate(trial: BatchTrial) -> str:
    return (
        fmt.UNKNOWN if trial.samples_per_s is None else f"{fmt.number(trial.samples_per_s)}/s"
    )
