from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from notebooks.benchmarks.compiler.figures import block_figures, cpu_figures, gpu_figures
from notebooks.benchmarks.compiler.one_round import Row
from notebooks.benchmarks.compiler.ratios import (
    geometric_means,
    ratios_to,
    ratios_to_best,
)
from notebooks.benchmarks.compiler.script import Clock
from notebooks.benchmarks.compiler.table import rows_table

if TYPE_CHECKING:
    from pathlib import Path

    from notebooks.benchmarks.harness.figure import BenchFigure


def row(
    set_up: str, step_s: float, *, model: str = "bert", number: int = 0, compile_s: float = 8.0
) -> Row:
    return Row(
        model=model,
        set_up=set_up,
        round=number,
        backend="eager",
        device="cpu",
        steps=10,
        step_cpu_s=step_s,
        step_wall_s=step_s / 4,
        compile_cpu_s=compile_s,
        probe_steps=0,
        peak_memory_bytes=10**9,
        per_block=4,
        chosen_because=None,
    )


def named(figures: list[BenchFigure], name: str) -> BenchFigure:
    (figure,) = [figure for figure in figures if figure.name == name]
    return figure


def test_ratios_are_made_within_a_round() -> None:
    rows = [row("plain", 2.0), row("xla", 1.0), row("plain", 9.0, number=1)]

    assert ratios_to(rows, "bert", "xla", "plain") == {0: 2.0}


def test_the_best_single_backend_is_one_choice_for_all_rounds() -> None:
    rows = [
        *(row("auto", 1.0, number=number) for number in range(3)),
        *(row("eager", time_s, number=number) for number, time_s in enumerate((1.0, 1.0, 4.0))),
        *(row("xla", 2.0, number=number) for number in range(3)),
    ]

    ratios = ratios_to_best(rows, "bert", "auto", ("eager", "xla", "inductor"))
    assert ratios == {0: 1.0, 1: 1.0, 2: 4.0}
    assert ratios_to_best(rows, "gpt2", "auto", ("eager", "xla")) == {}


def test_a_mean_over_models_takes_the_rounds_that_have_all() -> None:
    assert geometric_means([{0: 4.0, 1: 7.0}, {0: 9.0}]) == [pytest.approx(6.0)]
    assert geometric_means([]) == []


def test_figures_of_transformers_leave_cnns_out() -> None:
    rows = [
        *(row("plain", 3.0, model=model) for model in ("bert", "gpt2", "resnet18")),
        row("auto", 1.5, model="bert"),
        row("auto", 1.5, model="gpt2"),
        row("auto", 6.0, model="resnet18"),
    ]
    figures = cpu_figures(rows)

    transformers = named(figures, "auto, transformers, 2 models")
    assert (transformers.value, transformers.holds) == (pytest.approx(2.0), True)
    cnns = named(figures, "auto, CNNs, 1 models")
    assert (cnns.value, cnns.holds) == (pytest.approx(0.5), False)


def test_what_was_not_measured_has_no_figure() -> None:
    assert cpu_figures([]) == block_figures([]) == gpu_figures([]) == []


def test_a_warm_start_is_compared_with_the_empty_cache() -> None:
    rows = [row("inductor", 1.0), row("inductor", 1.0, number=1, compile_s=1.0)]
    figure = named(cpu_figures(rows), "compile CPU time of inductor, warm cache")

    assert (figure.value, figure.holds) == (0.125, True)


def test_compiling_layer_by_layer_is_compared_with_the_whole_model() -> None:
    rows = [row("inductor", 1.0), row("inductor, whole", 1.0, compile_s=20.0)]
    (figure,) = block_figures(rows)

    assert figure.value == 2.5


def test_a_gpu_is_measured_in_time_and_a_cpu_in_cpu_time() -> None:
    one = row("plain", 4.0)

    assert one.step_s == 4.0
    assert replace(one, device="cuda").step_s == 1.0


def test_the_table_shows_every_set_up_with_its_ratio() -> None:
    lines = rows_table([row("plain", 0.2), row("xla", 0.1)]).splitlines()

    assert len(lines) == 3
    assert lines[2].split() == ["bert", "xla", "eager", "100.0", "25.0", "2.00", "8.0", "1000"]


def test_the_clock_ends_a_training_after_its_steps(tmp_path: Path) -> None:
    clock = Clock(steps=3)
    answers = [clock() for _ in range(4)]
    clock.write(tmp_path / "times.json")

    assert answers == [True, True, True, False]
    times = json.loads((tmp_path / "times.json").read_text())
    assert {name: np.size(value) for name, value in times.items()} == {
        "first_step": 1,
        "cpu_s": 3,
        "wall_s": 3,
    }
