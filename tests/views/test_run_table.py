"""The table of runs: conditions, order, columns, what is kept, and what is damaged."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from smtc_lab.cli import cli
from smtc_lab.errors import SpecError
from smtc_lab.metrics.records.metric_record import MetricRecord, kept_value
from smtc_lab.store.writer import RecordWriter
from smtc_lab.views.run_list import run_rows, runs_text
from smtc_lab.views.run_table.kept_facts import FILE
from smtc_lab.views.run_table.page import Asked, Pages
from smtc_lab.views.run_table.table import runs
from tests.kit.records import STARTED_S, run_records
from tests.kit.run_folders import set_state, write_run_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder


def write(
    root: Path,
    name: str,
    *,
    losses: Sequence[float] = (),
    state: str = "Completed",
    **job: object,
) -> RunFolder:
    """Write a run that logged some losses."""
    records = run_records(job_name=name, state=state)
    told = {"cluster": records.job.cluster.name, **job}
    del told["cluster"]
    job_with = records.job.model_copy(update=told)
    folder = write_run_folder(root, records)
    folder.job_file.write_text(job_with.to_json(), encoding="utf-8")
    with RecordWriter(folder.rank_records("algo-1", 0)) as writer:
        for step, loss in enumerate(losses):
            value, text = kept_value(loss)
            writer.append(
                MetricRecord(
                    step=step, time_s=STARTED_S + step, name="loss", value=value, text=text
                )
            )
    return folder


def some_runs(root: Path) -> Path:
    write(root, "good", losses=[0.9, 0.2, 0.25], hyperparameters={"lr": 0.1})
    write(root, "bad", losses=[0.9, 0.8], hyperparameters={"lr": 0.01}, seed=3)
    write(root, "silent", arguments=("--amp", "--depth=-3", "file", "--note", "=a b"))
    write(root, "apart", losses=[float("nan")], state="Failed")
    return root


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs that no test changes."""
    return some_runs(tmp_path_factory.mktemp("table") / "runs")


def names(table: object) -> list[str]:
    return [row["name"] for row in table.rows]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("loss < 0.3", ["good"]),
        ("metric.loss.min < 0.3 and cost_usd > 0", ["good"]),
        ("not loss < 0.3", ["bad"]),  # what is not known holds neither way
        ("loss < 0.3 or lr == 0.01", ["bad", "good"]),
        ("0.2 < loss <= 0.8", ["bad", "good"]),
        ('state == "Failed"', ["apart"]),
        ('state in ("Failed", "Stopped") or seed == 3', ["apart", "bad"]),
        ('state == "failed" or state in ["running", "STOPPED"]', ["apart"]),
        ('"Fail" in state', ["apart"]),
        ("`loss` > lr", ["bad", "good"]),
        ("amp == True and depth < 0", ["silent"]),
        ('"b" in note', ["silent"]),
        ('loss < "a text"', []),
        ('started > "2001-01-01" and loss < 1', ["bad", "good"]),
        ('started > "2101-01-01"', []),
    ],
)
def test_a_condition_chooses_rows(root: Path, condition: str, expected: list[str]) -> None:
    assert sorted(names(runs(root).where(condition))) == expected


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("los < 1", "No run has 'los'. Did you mean loss"),
        ("loss <", "cannot be read. Write for example: loss < 0.3"),
        ("loss", "cannot be read"),
        ("__import__('os').system('true') < 1", "cannot be read"),
        ("loss < 9 ** 9 ** 9", "cannot be read"),
        ("(lambda: 1)() < loss", "cannot be read"),
        ("loss is None", "cannot be read"),
        ("not " * 900 + "loss < 1", "over 2000"),
        ("not " * 400 + "loss < 1", "cannot be read"),
        ('started > "yesterday"', "'yesterday' is no date"),
        ("los\u202e < 1", "cannot be read"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(
    root: Path, condition: str, told: str
) -> None:
    with pytest.raises(SpecError, match=r"^[^\u202e]*$") as refused:
        runs(root).where(condition)

    assert told in str(refused.value)


def test_rows_are_sorted_with_unknown_values_last(root: Path) -> None:
    table = runs(root)

    assert names(table.sort("loss"))[:2] == ["good", "bad"]
    assert names(table.sort("-loss"))[:2] == ["bad", "good"]
    assert names(table.sort("-name")) == ["silent", "good", "bad", "apart"]
    assert names(table.sort("name").first(1)) == ["apart"]
    with pytest.raises(SpecError, match="No run has 'speed'"):
        table.sort("speed")
    # of those that are left others may have had it
    assert names(table.where("depth < 0").sort("loss")) == ["silent"]
    assert names(table.where("depth < 0").where("loss < 1")) == []
    page = Pages(table).page(Asked(where="silent", sort="loss"))
    assert [row["name"] for row in page["rows"]] == ["silent"]


def test_the_table_shows_metrics_and_chosen_columns(root: Path) -> None:
    table = runs(root)

    head, *lines = str(table.sort("name")).splitlines()
    assert head.split() == [
        *("run", "state", "started", "took", "steps", "s/step", "cost"),
        *("lr", "amp", "depth", "note", "loss", "cluster"),
    ]
    assert [line.split()[0] for line in lines] == ["apart", "bad", "good", "silent"]
    assert "0.25" in lines[2]
    chosen = str(table.columns("name", "lr", "loss.min").sort("name")).splitlines()
    assert [line.split() for line in chosen[:3]] == [
        ["run", "lr", "loss.min"],
        ["apart", "—", "—"],
        ["bad", "0.01", "0.8"],
    ]
    assert table._repr_html_().count('role="row"') == 5


def test_the_table_shows_what_differs_in_its_rows(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    many = {f"p{place}": place for place in range(8)}
    write(root, "a", losses=[1.0], hyperparameters={"rare": 1, "lr": 0.1, "wd": 2e-5, **many})
    write(root, "b", losses=[2.0], hyperparameters={"lr": 1.2e-5, "wd": 2e-5})

    both, first = runs(root), runs(root).where("lr > 0.01")

    own = [name for name in both.usual_columns() if "." in name]
    assert own == ["param.lr", "param.rare", *(f"param.p{n}" for n in range(4)), "metric.loss"]
    assert "1.2e-05" in str(both)
    assert "metric.loss" in first.usual_columns()  # beside which nothing is the same
    assert both.columns("name", "wd").usual_columns() == ("name", "wd")
    page = Pages(both).page(Asked())
    assert page["columns"] == list(both.usual_columns())
    assert [name for name in page["differing"] if "." in name] == own
    assert "state" not in page["differing"]
    chosen = Pages(both).page(Asked(columns=("name", "param.wd")))
    assert chosen["differing"] == ["name"]


def test_a_notebook_keeps_no_more_rows_than_can_be_read(root: Path) -> None:
    table = runs(root)
    many = replace(table, rows=table.rows * 51)

    html = many._repr_html_()

    assert html.count('role="row"') == 201
    assert "4 more rows" in html
    assert len(str(many).splitlines()) == 205


def test_what_has_ended_is_read_once_and_again_when_it_changed(tmp_path: Path) -> None:
    root = some_runs(tmp_path / "runs")
    write(root, "going-on", state="InProgress", losses=[1.0])
    first = runs(root)
    (root / "good" / "records" / "algo-1-rank0.sqlite").write_bytes(b"no longer there")

    assert runs(root).where('state == "Completed"').rows == (
        first.where('state == "Completed"').rows
    )
    kept = (root / FILE).read_text().splitlines()
    assert sorted(json.loads(line)[1] for line in kept) == [
        *("runs/apart", "runs/bad", "runs/good", "runs/silent")
    ]
    assert (root / FILE).stat().st_mode & 0o777 == 0o600

    bad = next(line for line in kept if "runs/bad" in line)
    (root / FILE).write_text(f"no JSON\n[1]\n{bad}\n")
    set_state(write(root, "new"), "Stopped", reason="by hand")
    table = {row["name"]: row for row in runs(root).rows}
    assert table["new"]["state"] == "Stopped"
    assert "damaged" in str(table["good"]["reason"])
    assert table["bad"]["metric.loss"] == 0.8


def test_where_there_is_no_run_nothing_is_found_and_nothing_refused(tmp_path: Path) -> None:
    table = runs(tmp_path / "none").where('state == "Completed"').sort("-cost_usd")

    assert str(table) == f"No such runs in {tmp_path / 'none'}."
    assert str(table) in table._repr_html_()
    assert not (tmp_path / "none").exists()


def test_a_damaged_run_is_one_row(tmp_path: Path) -> None:
    root = some_runs(tmp_path / "runs")
    (root / "bad" / "job.json").write_text("{")
    (root / "bad" / "state.json").write_text("{")

    row = next(row for row in runs(root).rows if row["name"] == "bad")

    assert row["state"] == "Damaged"
    assert len(runs(root)) == 4


def test_what_a_calibration_or_a_proof_launched_is_left_out(
    tmp_path: Path,
) -> None:
    root = some_runs(tmp_path / "runs")
    for name, fact in (("probe", {"measure": {"x": 1}}), ("killed", {"fingerprints": True})):
        folder = write(root, name)
        plan = json.loads(folder.plan_file.read_text())
        folder.plan_file.write_text(json.dumps({**plan, "facts": fact}))

    assert len(runs(root)) == 4
    command = ["runs", "--runs-dir", str(root), "--where", 'state == "Completed"']
    assert "2 more among what comparisons" in CliRunner().invoke(cli, command).output
    made = {row["name"]: row["made_by"] for row in runs(root, launches=True).rows}
    assert made == dict.fromkeys(("good", "bad", "silent", "apart")) | {
        "probe": "calibration",
        "killed": "proof",
    }
    rows = run_rows(root, last=2)
    assert [row["job_name"] for row in rows] == ["silent", "apart", "probe", "killed"]
    assert [row.get("made_by") for row in rows] == [None, None, "calibration", "proof"]
    told = runs_text(rows, root=root, begin_with="it")
    assert [line.split()[0] for line in told.splitlines()] == ["run", "silent", "apart"]
    assert runs_text(rows[2:], root=root, begin_with="it").startswith("No runs in")


def test_a_shell_gets_rows_json_and_csv(root: Path, tmp_path: Path) -> None:
    def asked(*arguments: str) -> str:
        done = CliRunner().invoke(cli, ["runs", "--runs-dir", str(root), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    told = asked("--where", "loss < 1", "--sort", "-loss", "--columns", "name, loss")
    assert [line.split() for line in told.splitlines()] == [
        *(["run", "loss"], ["bad", "0.8"], ["good", "0.25"])
    ]
    (row,) = json.loads(asked("--sort", "loss", "--json", "-n", "1"))
    assert (row["name"], row["metric.loss.min"], row["param.lr"]) == ("good", 0.2, 0.1)
    assert "No such runs" in asked("--where", "loss > 5")
    out = tmp_path / "runs.csv"
    asked("--sort", "name", "--csv", str(out))
    table = list(csv.DictReader(out.read_text().splitlines()))
    assert [line["name"] for line in table] == ["apart", "bad", "good", "silent"]
    assert (table[2]["metric.loss.min"], table[3]["param.note"]) == ("0.2", "'=a b")
    (started,) = {line["started"] for line in table}
    assert datetime.fromisoformat(started) == datetime.fromtimestamp(STARTED_S, UTC)
