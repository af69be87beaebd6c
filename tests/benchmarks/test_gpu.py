from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from notebooks.benchmarks.gpu.__main__ import parts, write_results
from notebooks.benchmarks.gpu.figures import gpu_figures

if TYPE_CHECKING:
    from pathlib import Path

STARTS = [
    {"part": "bert", "set_up": "eager", "batch_size": 8, "compile_s": 0.1, "step_s": 0.2},
    {"part": "bert", "set_up": "inductor", "batch_size": 8, "compile_s": 30.0, "step_s": 0.1},
]
ROUNDS = [
    {"part": "bert", "set_up": name, "round": number, "step_s": step_s + number / 1000}
    for number in range(7)
    for name, step_s in (("eager", 0.2), ("inductor", 0.1))
]


def test_a_figure_is_a_median_over_rounds_and_a_speed_up_one_within_rounds() -> None:
    figures = {figure.name: figure for figure in gpu_figures(STARTS + ROUNDS)}

    step = figures["bert, inductor: step"]
    assert (step.low, step.value, step.high) == pytest.approx((100, 103, 106))
    assert figures["bert, inductor: speed"].value == pytest.approx(8 / 0.103)
    assert figures["bert, inductor: compilation"].value == 30.0
    assert figures["bert: inductor, speed-up"].value == pytest.approx(0.203 / 0.103)
    assert figures["bert: inductor, speed-up"].peer == "eager"


def test_what_was_measured_before_a_cut_off_has_figures() -> None:
    figures = gpu_figures(STARTS[:1])

    assert [figure.name for figure in figures] == ["bert, eager: compilation"]


def test_a_torn_row_and_a_part_that_failed_leave_the_others(tmp_path: Path) -> None:
    rows_file = tmp_path / "gpu_rows.jsonl"
    rows_file.write_text(json.dumps(STARTS[0]) + "\n" + '{"part": "be', encoding="utf-8")
    told = [{"part": "bert", "took_s": 9.0, "device": None, "error": "RunFailedError: slow"}]

    write_results(tmp_path / "gpu.json", told, rows_file)

    result = json.loads((tmp_path / "gpu.json").read_text(encoding="utf-8"))
    assert result["rows"] == STARTS[:1]
    assert result["parts"] == told
    assert {"machine", "versions", "figures"} < set(result)


def test_a_dry_run_has_a_part_of_each_kind_and_needs_no_gpu() -> None:
    dry, full = (parts("rows", is_dry_run=is_dry) for is_dry in (True, False))

    assert {task.device for task in dry} == {"cpu"}
    assert {task.device for task in full} == {"cuda"}
    assert {"bert", "gpt2", "feeding"} <= {task.part for task in dry} & {it.part for it in full}
