"""The figures of the benchmark, with their goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notebooks.benchmarks.compiler.ratios import (
    geometric_means,
    ratios_to,
    ratios_to_best,
)
from notebooks.benchmarks.compiler.set_ups import EQUAL, PLAIN
from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from notebooks.benchmarks.networks.models import CNNS, MODELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notebooks.benchmarks.compiler.one_round import Row

_BEST = "best single backend"
_TRANSFORMERS = tuple(name for name in MODELS if name not in CNNS)


def cpu_figures(rows: Sequence[Row]) -> list[BenchFigure]:
    """Return the figures of what was measured on a CPU; what was not measured is left out.

    Ratios are of CPU time for each step, within a round.
    """
    figures = [
        _ratio(
            f"auto on {model}", ratios_to_best(rows, model, "auto", EQUAL), "best single", 0.98
        )
        for model in MODELS
    ]
    figures += [
        _mean("auto, transformers", rows, _TRANSFORMERS, "auto", 1.35),
        _mean("auto, precision medium, transformers", rows, _TRANSFORMERS, "auto, medium", 1.7),
        _mean("auto, CNNs", rows, CNNS, "auto", 1.0),
        _mean("inductor, transformers", rows, _TRANSFORMERS, "inductor", None),
        _mean("inductor, CNNs", rows, CNNS, "inductor", None),
        _mean("xla, transformers", rows, _TRANSFORMERS, "xla", None),
        _mean("xla, CNNs", rows, CNNS, "xla", 0.85),
        _mean("eager, fused optimizer and kept memory", rows, MODELS, "eager", None),
    ]
    for model in MODELS:
        figures += [
            _ratio(f"{set_up} on {model}", ratios_to(rows, model, set_up, PLAIN), "plain eager")
            for set_up in (*EQUAL, "auto", "auto, medium")
        ]
    figures.append(_warm_start(rows))
    figures += [_memory(rows, set_up) for set_up in EQUAL]
    return [figure for figure in figures if figure is not None]


def block_figures(rows: Sequence[Row]) -> list[BenchFigure]:
    """Return the compile time of whole models over that of their layers, caches empty."""
    first = [row for row in rows if row.round == 0]
    whole_s = {row.model: row.compile_cpu_s for row in first if row.set_up == "inductor, whole"}
    values = [
        whole_s[row.model] / row.compile_cpu_s
        for row in first
        if row.set_up == "inductor" and row.per_block and row.model in whole_s
    ]
    figure = _figure("compile CPU time, whole model", values, peer="layer by layer", goal=None)
    return [] if figure is None else [figure]


def gpu_figures(rows: Sequence[Row]) -> list[BenchFigure]:
    """Return the figures of what was measured on a GPU: each set-up over plain eager."""
    models = tuple(dict.fromkeys(row.model for row in rows))
    names = dict.fromkeys(row.set_up for row in rows if row.set_up != PLAIN)
    figures = [
        _mean(f"GPU: {name}", rows, models, name, 1.3 if name == "inductor" else None)
        for name in names
    ]
    return [figure for figure in figures if figure is not None]


def _ratio(
    name: str, ratios: dict[int, float], peer: str, goal: float | None = None
) -> BenchFigure | None:
    return _figure(name, list(ratios.values()), peer=peer, goal=goal)


def _mean(
    name: str, rows: Sequence[Row], models: Sequence[str], set_up: str, goal: float | None
) -> BenchFigure | None:
    """Return the geometric mean over the models that were measured."""
    of_models = [ratios_to(rows, model, set_up, PLAIN) for model in models]
    of_models = [ratios for ratios in of_models if ratios]
    values = geometric_means(of_models)
    return _figure(f"{name}, {len(of_models)} models", values, peer="plain eager", goal=goal)


def _figure(
    name: str, values: list[float], *, peer: str, goal: float | None
) -> BenchFigure | None:
    if not values:
        return None
    return bench_figure(name, values, unit="times", better="higher", goal=goal, peer=peer)


def _warm_start(rows: Sequence[Row]) -> BenchFigure | None:
    """Return the compile time of later rounds over that of the first one."""
    of_inductor = [row for row in rows if row.set_up == "inductor"]
    cold_s = {row.model: row.compile_cpu_s for row in of_inductor if row.round == 0}
    values = [
        row.compile_cpu_s / cold_s[row.model]
        for row in of_inductor
        if row.round > 0 and cold_s.get(row.model)
    ]
    if not values:
        return None
    return bench_figure(
        "compile CPU time of inductor, warm cache",
        values,
        unit="times",
        better="lower",
        goal=0.25,
        peer="empty cache",
    )


def _memory(rows: Sequence[Row], set_up: str) -> BenchFigure | None:
    """Return the median over models of the most memory that was held."""
    plain = {
        (row.model, row.round): row.peak_memory_bytes for row in rows if row.set_up == PLAIN
    }
    values = [
        row.peak_memory_bytes / before
        for row in rows
        if row.set_up == set_up
        and row.peak_memory_bytes
        and (before := plain.get((row.model, row.round)))
    ]
    if not values:
        return None
    return bench_figure(
        f"peak memory of {set_up}", values, unit="times", better="lower", peer="plain eager"
    )
