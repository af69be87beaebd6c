from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.compared.pair_result import PairResult
from smtc_lab.metrics.cost import saving_interval
from smtc_lab.metrics.result import Interval
from smtc_lab.views.study.estimate import set_up_estimate
from smtc_lab.views.text.set_ups import SetUpsSoFar
from smtc_lab.views.text.table import comparison_rows, comparison_table
from smtc_lab.views.text.words import ONE_LAUNCH
from tests.kit.records import run_records

if TYPE_CHECKING:
    from smtc_lab.metrics.records.records import RunRecords

SPREADS = [
    (None, 1, ("1",)),
    (None, 2, ("2: no distribution",)),
    ("auto", 4, ("4: data 4",)),
    ({"data": 1}, 1, ("1",)),
    ({"data": 2, "shard": 2}, 4, ("4: data 2 \N{MULTIPLICATION SIGN} shard 2",)),
    ({"pipeline": 2}, 2, ("2: pipeline 2", "4 microbatches, 1f1b")),
]


def spread_run(distribution: Any, trainers: int, name: str) -> RunRecords:
    run = run_records(cluster=f"{name}@train=local:1", num_ranks=trainers)
    values = {**dict(run.job), "distribution": distribution}
    return replace(run, job=type(run.job)(**values))


def compared(*runs: RunRecords) -> Comparison:
    return compare_runs(
        runs, catalog=Catalog.load(), created="2026-11-26T10:00:00+00:00", machine={}
    )


@pytest.mark.parametrize(("distribution", "trainers", "told"), SPREADS)
def test_a_table_names_trainers_and_distribution(
    distribution: Any, trainers: int, told: tuple[str, ...]
) -> None:
    two = spread_run({"data": 2}, 2, "two")

    result = compared(two, spread_run(distribution, trainers, "other"))

    read = Comparison.from_json(result.to_json())
    rows = {row.label: row.cells for row in comparison_rows(read)}
    assert rows["trainers"] == (("2: data 2",), told)


def test_a_live_table_names_them_before_the_first_launch() -> None:
    jobs = [
        spread_run(distribution, trainers, "other").job for distribution, trainers, _ in SPREADS
    ]
    estimates = [set_up_estimate([], job) for job in jobs]

    rows = comparison_rows(SetUpsSoFar(clusters=tuple(estimates)))

    told = {row.label: row.cells for row in rows}
    assert told["trainers"] == (
        ("unknown",),
        ("unknown",),
        ("unknown",),
        ("unknown",),
        ("data 2 \N{MULTIPLICATION SIGN} shard 2",),
        ("pipeline 2", "4 microbatches, 1f1b"),
    )


def test_a_live_table_has_no_interval_of_one_round() -> None:
    jobs = [spread_run(None, 1, name).job for name in ("one", "other")]
    estimates = tuple(set_up_estimate([], job, usd_per_hour=3.0) for job in jobs)
    ratio = Interval(mean=2, low=1.9, high=2.1, spread="steps")

    def told(speedup: Interval) -> list[tuple[str, ...]]:
        saving = saving_interval(
            speedup=speedup, baseline_usd_per_hour=3.0, candidate_usd_per_hour=3.0
        )
        pair = PairResult(
            baseline="one",
            candidate="other",
            speedup=speedup,
            saving_fraction=saving,
            saving_per_job_fraction=None,
            evidence="measured",
            verdict="",
        )
        rows = comparison_rows(SetUpsSoFar(clusters=estimates, pairs=(pair,)))
        by_label = {row.label: row.cells[1] for row in rows}
        return [by_label["speed-up"], by_label["saving per step"]]

    over_rounds = ratio.model_copy(update={"spread": "launches"})
    times = "\N{MULTIPLICATION SIGN}"
    assert told(ratio) == [
        (f"2.0{times} (one launch)", ONE_LAUNCH),
        ("50 % (one launch)", ONE_LAUNCH),
    ]
    assert all("(one launch)" not in cell[0] for cell in told(over_rounds))


def test_a_table_has_the_same_rows_while_launches_run_and_when_they_are_over() -> None:
    result = compared(spread_run({"data": 2}, 2, "one"), spread_run({"data": 2}, 2, "other"))
    jobs = [spread_run({"data": 2}, 2, name).job for name in ("one", "other")]
    estimates = tuple(set_up_estimate([], job) for job in jobs)

    live = [
        row.label for row in comparison_rows(SetUpsSoFar(clusters=estimates, is_compared=True))
    ]

    final = [row.label for row in comparison_rows(result)]
    of_whole_launches = {"samples/s", "time of a launch", "CPU delivered/asked"}
    assert [label for label in live if label != "data wait"] == [
        label for label in final if label not in of_whole_launches
    ]


def test_one_trainer_each_needs_no_row_of_trainers() -> None:
    runs = [spread_run(None, 1, "one"), spread_run({"data": 1}, 1, "other")]

    assert "trainers" not in {row.label for row in comparison_rows(compared(*runs))}


def test_set_ups_of_this_machine_are_called_so_and_have_no_price() -> None:
    text = comparison_table(compared(spread_run({"data": 2}, 2, "a"), spread_run(None, 1, "b")))

    assert text.splitlines()[0] == "train.py on 2 set-ups, measured"
    assert "$" not in text
    assert "price" not in text
