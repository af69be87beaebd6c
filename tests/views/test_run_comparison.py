"""Runs that were never planned together, beside each other."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from smtc_lab.cli import cli
from smtc_lab.errors import SpecError, StoreError
from smtc_lab.metrics.records.metric_record import MetricRecord
from smtc_lab.store.writer import RecordWriter
from smtc_lab.views.run_comparison.compare import compare_runs, short_names
from smtc_lab.views.run_comparison.shown import bundle_of
from smtc_lab.views.run_table.table import runs
from tests.kit.records import STARTED_S, run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

HOSTILE = "\x1b[31m\u202e</script>"


def written(
    root: Path, name: str, logged: Mapping[str, Sequence[float]], **job: object
) -> Path:
    """Write an ended run that logged these values, one a second."""
    records = run_records(job_name=name, cluster="a=local:1")
    folder = write_run_folder(root, records)
    changed = records.job.model_copy(update=job)
    folder.job_file.write_text(changed.to_json(), encoding="utf-8")
    with RecordWriter(folder.rank_records("algo-1", 0)) as writer:
        for metric, values in logged.items():
            for step, value in enumerate(values):
                is_number = math.isfinite(value)
                row = (step, STARTED_S + step, metric, value if is_number else None, str(value))
                writer.append_values(MetricRecord, row)
    return folder.path


def test_what_differs_is_told_of_all_hyperparameters_first(tmp_path: Path) -> None:
    for number in range(3):
        values = {"lr": number / 10, "depth": 3}
        written(tmp_path, f"digits-{number}-a", {}, hyperparameters=values, seed=number)

    compared = compare_runs(runs(tmp_path))

    assert [(one.name, one.values) for one in compared.differences] == [
        ("hyperparameters.lr", ("0.0", "0.1", "0.2")),
        ("seed", ("0", "1", "2")),
    ]
    assert [run.label for run in compared.runs] == ["0", "1", "2"]
    assert str(compared).startswith("3 runs; they differ in lr and seed.")


def test_without_pandas_the_message_tells_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "one", {})
    written(tmp_path, "two", {})
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(SpecError, match=r"pip install pandas.*differences"):
        compare_runs("one", "two", root=tmp_path).to_pandas()


def test_an_option_of_the_command_line_is_a_row_of_its_own(tmp_path: Path) -> None:
    one = written(tmp_path, "one", {}, arguments=("data", "--lr", "-1", "--amp"))
    two = written(tmp_path, "two", {}, arguments=("data", "--lr=2"))

    found = {row.name: row.values for row in compare_runs(str(one), str(two)).differences}

    assert found == {"arguments.lr": ("-1", "2"), "arguments.amp": ("true", "—")}


def test_a_curve_of_many_points_is_thinned_and_keeps_its_spike(tmp_path: Path) -> None:
    values = [1.0] * 5_000
    values[3_210], values[7], values[8] = 99.0, math.nan, math.inf
    one = written(tmp_path, "one", {"loss": values})
    two = written(tmp_path, "two", {"loss": [3.0, 2.0, 1.0]})

    compared = compare_runs(str(one), str(two))

    long, short = (run.curve("loss") for run in compared.runs)
    assert long is not None
    assert short is not None
    assert len(long.value) <= 500
    assert max(high or 0.0 for high in long.high) == 99.0
    assert (long.num_values, long.num_finite) == (5_000, 4_998)
    assert (short.value, short.low, short.step) == ((3, 2, 1), (), (0, 1, 2))
    assert short.usd[-1] == pytest.approx(2 * 3.6 / 3_600)


def test_a_damaged_run_is_told_and_the_others_are_compared(tmp_path: Path) -> None:
    first = written(tmp_path, "one", {"loss": [1.0]}, hyperparameters={"lr": 1})
    broken = written(tmp_path, "two", {"loss": [1.0]}, hyperparameters={"lr": 2})
    last = written(tmp_path, "three", {}, hyperparameters={"lr": 3})
    (broken / "job.json").write_text('{"entry')
    (broken / "records" / "algo-1-rank0.sqlite").write_bytes(b"no database" * 100)

    compared = compare_runs(*map(str, (first, broken, last)))

    assert [bool(run.problem) for run in compared.runs] == [False, True, False]
    (row,) = (one for one in compared.differences if one.name == "hyperparameters.lr")
    assert row.values == ("1", "?", "3")
    assert compared.runs[2].curve("loss") is None
    assert "two: " in str(compared)


def test_hostile_texts_are_neutral_in_all_that_leaves(tmp_path: Path) -> None:
    for name in ("one", "two"):
        values = {"text": f"{name}{HOSTILE}", HOSTILE: name}
        written(tmp_path, name, {HOSTILE: [1.0]}, hyperparameters=values)

    compared = compare_runs("one", "two", root=tmp_path)

    left = f"{compared}{json.dumps(bundle_of(compared), ensure_ascii=False)}"
    assert "\x1b" not in left
    assert "\u202e" not in left
    assert "</script>" not in bundle_of(compared)["text/html"]


def test_figures_name_what_they_do_not_have(tmp_path: Path) -> None:
    written(tmp_path, "one", {"loss": [2.0, 1.0]}, hyperparameters={"lr": 1})
    written(tmp_path, "two", {}, hyperparameters={"lr": 2})
    compared = compare_runs("one", "two", root=tmp_path)

    texts = [each.get_text() for each in compared.figure("loss", along="dollars").texts]

    assert any("not known of them: two" in text for text in texts)
    (axes,) = compared.scatter("lr", "loss.min").axes
    (point,) = axes.lines
    assert (float(point.get_xdata()[0]), float(point.get_ydata()[0])) == (1.0, 1.0)
    with pytest.raises(SpecError, match=r"accuracy.*loss"):
        compared.figure("accuracy")


def test_one_run_and_an_unknown_name_are_refused(tmp_path: Path) -> None:
    written(tmp_path, "one", {})

    with pytest.raises(SpecError, match=r"1 different runs.*2 to 50"):
        compare_runs("one", "one", root=tmp_path)
    with pytest.raises(StoreError, match="none-of-them"):
        compare_runs("one", "none-of-them", root=tmp_path)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["digits-1-lr", "digits-2-lr"], ["1", "2"]),
        (["a-1-run-x", "a-2-run-y"], ["1-x", "2-y"]),
        (["a-b", "a-c-d"], ["b", "c-d"]),
        (["a-b", "a-b-c"], ["a-b", "a-b-c"]),
    ],
)
def test_names_are_shortened_to_what_differs(names: list[str], short: list[str]) -> None:
    assert short_names(names) == short


def test_the_shell_writes_a_picture(tmp_path: Path) -> None:
    root, png = tmp_path / "runs", tmp_path / "loss.png"
    for name in ("one", "two"):
        written(root, name, {"loss": [2.0, 1.0]}, hyperparameters={"lr": name})

    command = ["runs", "compare", "one", "two", "--runs-dir", str(root), "--png", str(png)]
    done = CliRunner().invoke(cli, command)

    assert done.exit_code == 0, done.output
    assert done.output.startswith("2 runs; they differ in lr.")
    assert png.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--metric", "los", "--png", "loss.png"], "metric 'los'. They have: loss"),
        (["--along", "seconds"], "Add --png FILE"),
    ],
)
def test_options_of_a_picture_that_is_not_there_are_refused(
    tmp_path: Path, options: list[str], told: str
) -> None:
    for name in ("one", "two"):
        written(tmp_path, name, {"loss": [2.0, 1.0]})

    command = ["runs", "compare", "one", "two", "--runs-dir", str(tmp_path), *options]
    done = CliRunner().invoke(cli, command)

    assert done.exit_code == 2
    assert told in " ".join(done.output.split())
