from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smtc_lab.metrics.bill import Bill
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.finding import caution
from smtc_lab.metrics.result import Interval
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.bill import SCALES_NOTE
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

UNPRICED = replace(HETEROGENEOUS, name="unpriced", groups=(P3, replace(C5, usd_per_hour=None)))


@pytest.fixture(scope="module")
def two() -> Comparison:
    return example_comparison()[0]


def _row(comparison: Comparison, label: str) -> tuple[tuple[str, ...], ...]:
    (cells,) = (row.cells for row in comparison_rows(comparison) if row.label == label)
    return cells


def test_the_heading_says_emulated_and_the_scale(two: Comparison) -> None:
    heading, scale = comparison_table(two).splitlines()[:2]

    assert heading == "train_images.py on 2 clusters, emulated"
    assert scale == "scale model: 1 vCPU = 0.031 cores, declared device time 40 ms per step"


def test_a_measured_comparison_says_measured_and_no_scale() -> None:
    comparison, _ = example_comparison(emulated=False)

    text = comparison_table(comparison)

    assert text.splitlines()[0] == "train_images.py on 2 clusters, measured"
    assert "emulated" not in text.replace(comparison.verdict, "")
    assert "scale model" not in text
    assert _row(comparison, "CPU delivered/asked") == (("no quota",), ("no quota",))


def test_the_table_has_every_promised_row(two: Comparison) -> None:
    assert [row.label for row in comparison_rows(two)] == [
        "instances",
        "$/h",
        "steps",
        "s/step",
        "$/1,000 steps",
        "samples/s",
        "speed-up",
        "saving per step",
        "time of a launch",
        "cost of a launch",
        "CPU utilization",
        "device utilization",
        "CPU delivered/asked",
    ]


def test_exposed_communication_is_a_row_where_any_launch_recorded_it() -> None:
    truth = {1: TrueStep(), 2: TrueStep(rest_s=0.03, exposed_comm_s=0.02)}
    runs, set_ups = scaling_runs(truth, spread=0.0)
    last = runs[-1]
    silent = {
        rank: [replace(step, exposed_comm_s=None) for step in steps]
        for rank, steps in last.steps.items()
    }

    comparison = made_scaling([*runs[:-1], replace(last, steps=silent)], set_ups).comparison

    alone, two = _row(comparison, "exposed communication (ms/step)")
    assert alone == ("none recorded",)
    assert two[0].startswith("20.")
    assert two[0].endswith("17 % of it")
    assert Comparison.from_json(comparison.to_json()) == comparison


def test_a_measured_launch_is_told_in_its_parts_with_their_prices() -> None:
    comparison, _ = example_comparison(emulated=False)
    bill = Bill(
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
    comparison = comparison.model_copy(
        update={"clusters": (comparison.clusters[0].model_copy(update={"bill": bill}),)}
    )

    assert _row(comparison, "time of a launch") == (
        ("start-up 3 s, 15 %", "steps 12 s, 60 %", "end 5 s, 25 %"),
    )
    assert _row(comparison, "cost of a launch") == (
        ("start-up $0.00300", "steps $0.0120", "end $0.00500"),
    )
    assert "are this machine's own" not in comparison_table(comparison)


def test_start_up_and_end_of_an_emulation_have_no_price_and_the_table_says_why(
    two: Comparison,
) -> None:
    bill = two.clusters[0].bill

    assert bill is not None
    assert _row(two, "cost of a launch")[0] == (
        f"steps {fmt.usd(bill.steps_usd)}",
        "start-up, end: not priced",
    )
    assert SCALES_NOTE in " ".join(comparison_table(two).split())


def test_a_comparison_of_an_older_version_tells_no_parts(two: Comparison) -> None:
    clusters = tuple(each.model_copy(update={"bill": None}) for each in two.clusters)
    comparison = two.model_copy(update={"clusters": clusters})

    assert "time of a launch" not in comparison_table(comparison)
    assert "are this machine's own" not in comparison_table(comparison)
    assert len(cost_rows(comparison)) == len(cost_rows(two)) - 1


def test_each_row_has_a_cell_for_each_cluster(two: Comparison) -> None:
    assert all(len(row.cells) == 2 for row in comparison_rows(two) + cost_rows(two))


def test_groups_are_listed_with_their_cpu(two: Comparison) -> None:
    assert _row(two, "instances")[1] == (
        "1 \u00d7 ml.p3.2xlarge, dnn_group",
        "1 \u00d7 ml.c5.9xlarge, data_group",
    )
    assert _row(two, "CPU utilization")[1] == ("98 %, dnn_group", "91 %, data_group")
    assert _row(two, "CPU delivered/asked")[1] == ("99 %, by cgroup-v2",)


def test_numbers_have_their_interval_and_the_unit_of_their_label(two: Comparison) -> None:
    cluster = two.clusters[0].model_copy(
        update={"step_time_s": Interval(mean=0.184, low=0.181, high=0.187)}
    )
    comparison = two.model_copy(update={"clusters": (cluster, two.clusters[1])})

    assert _row(comparison, "s/step")[0] == ("0.184 (0.181\u20130.187)",)
    assert _row(comparison, "$/h") == (("3.825",), ("5.661",))


def test_verdict_warnings_and_prices_stand_below_the_table(two: Comparison) -> None:
    warned = two.model_copy(
        update={
            "findings": (caution("busy", "The machine was busy."), caution("it", "Look again."))
        }
    )

    text = comparison_table(warned)
    verdict = text.index("5.8\u00d7 the speed of homogeneous")

    assert text.index("CPU delivered/asked") < verdict < text.index("warning: The machine was")
    assert "warning: Look again." in text
    assert text.endswith(
        "prices: ml.p3.2xlarge $3.825/h historical 2022-10-27; ml.c5.9xlarge $1.836/h "
        "historical 2022-10-27"
    )


def test_what_the_verdict_says_already_is_no_warning_too(two: Comparison) -> None:
    told, other = caution("one", "It was busy.", "Stop it."), caution("other", "It was small.")
    update = {"verdict": f"a is faster. {told.text}", "findings": (told, other)}

    text = comparison_table(two.model_copy(update=update))

    assert text.count("It was busy. Stop it.") == 1
    assert "warning: It was small." in text


def test_an_unknown_price_is_unknown_everywhere_and_never_zero() -> None:
    comparison, _ = example_comparison([HOMOGENEOUS, UNPRICED])

    for label in ("$/h", "$/1,000 steps", "saving per step"):
        assert _row(comparison, label)[1] == ("unknown",)
    assert [row.cells[1] for row in cost_rows(comparison)[:3]] == [("unknown",)] * 3
    assert "ml.c5.9xlarge price unknown" in comparison_table(comparison)


def test_a_ratio_around_one_says_that_no_difference_was_seen() -> None:
    comparison, _ = example_comparison(
        [HOMOGENEOUS, replace(HOMOGENEOUS, name="the same again")], seed=3
    )

    assert _row(comparison, "speed-up")[1][1] == "no difference seen"
    assert _row(comparison, "saving per step")[1][1] == "no difference seen"


def test_one_cluster_has_no_rows_of_comparison() -> None:
    comparison, _ = example_comparison([replace(HOMOGENEOUS, launches=1)])

    assert "speed-up" not in {row.label for row in comparison_rows(comparison)}
    assert _row(comparison, "steps") == (("32 in 1 launch", "8 of warm-up left out"),)


def test_unknown_utilization_and_batch_size_are_unknown(two: Comparison) -> None:
    cluster = two.clusters[0]
    bare = cluster.model_copy(
        update={
            "samples_per_s": None,
            "utilization": cluster.utilization.model_copy(
                update={"device": None, "cpu": {"dnn_group": None}}
            ),
        }
    )
    comparison = two.model_copy(update={"clusters": (bare, two.clusters[1])})

    assert _row(comparison, "samples/s")[0] == ("unknown",)
    assert _row(comparison, "device utilization")[0] == ("unknown",)
    assert _row(comparison, "CPU utilization")[0] == ("unknown, dnn_group",)


def test_no_cluster_at_all_still_gives_a_table(two: Comparison) -> None:
    nothing = two.model_copy(update={"clusters": (), "pairs": ()})

    assert comparison_table(nothing).startswith("train_images.py on 0 clusters, emulated")


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


def test_a_delivered_share_has_its_interval_or_is_too_short_to_tell(two: Comparison) -> None:
    share = Interval(mean=0.99, low=0.95, high=1.0)
    known = two.clusters[0].model_copy(
        update={"cpu_delivered": share, "cpu_delivered_over_s": 31.0}
    )
    short = two.clusters[1].model_copy(update={"cpu_delivered_over_s": 2.2})
    comparison = two.model_copy(update={"clusters": (known, short)})

    assert _row(comparison, "CPU delivered/asked") == (
        ("99 % (95\u2013100), by cgroup-v2",),
        ("too short to tell (2.2 s), by cgroup-v2",),
    )


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
