from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smtc_lab.metrics.bill import Bill
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.finding import Finding, caution
from smtc_lab.metrics.result import Interval
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.cells import batches
from smtc_lab.views.text.format import columns
from smtc_lab.views.text.table import (
    TERMINAL_COLUMNS,
    comparison_rows,
    comparison_table,
    cost_rows,
)
from tests.kit.comparison_runs import C5, HETEROGENEOUS, HOMOGENEOUS, P3
from tests.kit.comparisons import example_comparison
from tests.kit.scaling import TrueStep, made_scaling, scaling_runs

if TYPE_CHECKING:
    from tests.kit.golden_texts import GoldenTexts

UNPRICED = replace(HETEROGENEOUS, name="unpriced", groups=(P3, replace(C5, usd_per_hour=None)))


@pytest.fixture(scope="module")
def two() -> Comparison:
    return example_comparison()[0]


def _row(comparison: Comparison, label: str) -> tuple[tuple[str, ...], ...]:
    (cells,) = (row.cells for row in comparison_rows(comparison) if row.label == label)
    return cells


def changed(two: Comparison, *clusters: dict[str, Any], **update: Any) -> Comparison:
    """Return a comparison of which the first clusters, and itself, are so."""
    new = [
        each.model_copy(update=clusters[place] if place < len(clusters) else {})
        for place, each in enumerate(two.clusters)
    ]
    return two.model_copy(update={"clusters": tuple(new), **update})


def with_exposed_communication() -> Comparison:
    truth = {1: TrueStep(), 2: TrueStep(rest_s=0.03, exposed_comm_s=0.02)}
    runs, set_ups = scaling_runs(truth, spread=0.0)
    last = runs[-1]
    silent = {
        rank: [replace(step, exposed_comm_s=None) for step in steps]
        for rank, steps in last.steps.items()
    }
    return made_scaling([*runs[:-1], replace(last, steps=silent)], set_ups).comparison


BILL = Bill(
    startup_s=3.0,
    steps_s=12.0,
    end_s=5.0,
    billed_s=20.0,
    startup_usd=0.003,
    steps_usd=0.012,
    end_usd=0.005,
    billed_usd=0.02,
    evidence="measured",
)
FINDINGS = (caution("busy", "The machine was busy."), caution("it", "Look again."))


def test_a_table_tells_what_is_known_and_names_what_is_not(
    two: Comparison, golden_texts: GoldenTexts
) -> None:
    measured, _ = example_comparison(emulated=False)
    unpriced, _ = example_comparison([HOMOGENEOUS, UNPRICED])
    alike, _ = example_comparison(
        [HOMOGENEOUS, replace(HOMOGENEOUS, name="the same again")], seed=3
    )
    one, _ = example_comparison([replace(HOMOGENEOUS, launches=1)])
    unused = two.clusters[0].utilization.model_copy(
        update={"device": None, "cpu": {"dnn_group": None}}
    )
    exact = {
        "step_time_s": Interval(mean=0.184, low=0.181, high=0.187),
        "cpu_delivered": Interval(mean=0.99, low=0.95, high=1.0),
        "cpu_delivered_over_s": 31.0,
    }
    exposed = with_exposed_communication()

    tables = {
        "emulated, with warnings": two.model_copy(update={"findings": FINDINGS}),
        "measured, with a bill": changed(measured, {"bill": BILL}),
        "exposed communication": exposed,
        "an older version without bills": changed(two, {"bill": None}, {"bill": None}),
        "an unknown price": unpriced,
        "no difference": alike,
        "one launch of one cluster": one,
        "nothing known": changed(two, {"samples_per_s": None, "utilization": unused}),
        "quotas": changed(two, exact, {"cpu_delivered_over_s": 2.2}),
        "no cluster": two.model_copy(update={"clusters": (), "pairs": ()}),
    }

    golden_texts("comparison", {name: comparison_table(each) for name, each in tables.items()})
    assert Comparison.from_json(exposed.to_json()) == exposed


def test_an_unknown_price_is_unknown_everywhere_and_never_zero() -> None:
    comparison, _ = example_comparison([HOMOGENEOUS, UNPRICED])

    for label in ("$/h", "$/1,000 steps", "saving per step"):
        assert _row(comparison, label)[1] == ("unknown",)
    assert [row.cells[1] for row in cost_rows(comparison)[:2]] == [("unknown",)] * 2


def test_only_the_steps_of_an_emulation_have_a_price(two: Comparison) -> None:
    bill = two.clusters[0].bill

    assert bill is not None
    assert (bill.startup_usd, bill.end_usd) == (None, None)
    assert _row(two, "cost of a launch")[0][0] == f"steps {fmt.usd(bill.steps_usd)}"


def test_each_row_has_a_cell_for_each_cluster(two: Comparison) -> None:
    assert all(len(row.cells) == 2 for row in comparison_rows(two) + cost_rows(two))


def test_what_the_verdict_says_already_is_no_warning_too(two: Comparison) -> None:
    told, other = caution("one", "It was busy.", "Stop it."), caution("other", "It was small.")
    update = {"verdict": f"a is faster. {told.text}", "findings": (told, other)}

    text = comparison_table(two.model_copy(update=update))

    assert text.count("It was busy. Stop it.") == 1
    assert "warning: It was small." in text


def test_two_clusters_fit_a_terminal_and_stand_beside_each_other(two: Comparison) -> None:
    lines = comparison_table(two).splitlines()

    assert max(map(columns, lines)) <= TERMINAL_COLUMNS
    assert any("homogeneous" in line and "heterogeneous" in line for line in lines[:4])


def test_a_line_never_ends_between_a_number_and_its_percent_sign(two: Comparison) -> None:
    for length in range(80, 110):
        text = comparison_table(
            two.model_copy(update={"verdict": f"{'x' * length} 74 % of it"})
        )

        assert "\n% of it" not in text


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names=st.lists(st.text(max_size=64), min_size=1, max_size=5), group=st.text(max_size=80))
def test_any_names_give_printable_lines_of_the_terminals_width(
    two: Comparison, names: list[str], group: str
) -> None:
    base = two.clusters[1]
    groups = (base.instance_groups[0].model_copy(update={"instance_group_name": group}),)
    clusters = tuple(
        base.model_copy(update={"name": name, "instance_groups": groups}) for name in names
    )
    comparison = two.model_copy(update={"clusters": clusters, "entry_point": f"{group}.py"})

    for line in comparison_table(comparison).splitlines():
        assert line.isprintable()
        assert columns(line) <= TERMINAL_COLUMNS


def test_the_table_is_made_without_matplotlib() -> None:
    code = "import sys, smtc_lab.views.text.table; print('matplotlib' in sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("by_group", "told"),
    [
        ({}, ("unknown",)),
        ({"data_group": 0}, ("0, data_group",)),
        ({"dnn_group": 3, "data_group": 9}, ("3 (25 %), dnn_group", "9 (75 %), data_group")),
    ],
)
def test_batches_are_told_with_their_share_where_there_are_any(
    by_group: dict[str, int], told: tuple[str, ...]
) -> None:
    assert tuple(fmt.plain(line) for line in batches(by_group)) == told


def test_a_line_to_copy_is_not_wrapped(two: Comparison) -> None:
    line = f"print(lab.plan(lab.calibrate('/home/{'a' * TERMINAL_COLUMNS}/train.py')))"
    slow = Finding(kind="slow", sentence="It is slow.", fix="Plan.", action=line)

    assert line in comparison_table(changed(two, findings=(slow,))).splitlines()
