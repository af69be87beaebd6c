from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import PUBLISHED_2022_PRICES, Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.views.report.explanations import saving_sentences
from smtc_lab.views.text.table import comparison_rows
from smtc_lab.views.text.words import headline
from tests.kit.records import (
    HETEROGENEOUS,
    interleaved_runs,
    jittered,
    loader_record,
    run_records,
)

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords

EMULATION = Emulation(cores_per_vcpu=0.045, device_step_time_s=0.04)


def comparison(runs: list[RunRecords], catalog: Catalog | None = None) -> Comparison:
    return compare_runs(
        runs,
        catalog=catalog or Catalog.load(),
        created="2026-11-03T10:15:00+00:00",
        machine={"cores": 2},
    )


def test_clusters_that_got_unlike_shares_of_their_cpu_time_are_told() -> None:
    runs = interleaved_runs()
    for run in runs[1::2]:
        run.system.update(run_records(jittered(0.1), cpu_delivered_fraction=0.9).system)
    result = comparison(runs)

    (warning,) = [text for text in result.warnings if "more than 5 points apart" in text]
    assert "homogeneous got 100.0 %" in warning
    assert "heterogeneous 90.0 %" in warning
    assert result.verdict.endswith(warning)
    assert result.pairs[0].verdict.endswith(warning)
    assert any("heterogeneous got 90.0 %" in text for text in result.warnings)


def test_shares_that_were_looked_at_too_shortly_are_not_held_against_a_cluster() -> None:
    starved = run_records([0.1] * 20, cluster=HETEROGENEOUS, cpu_delivered_fraction=0.8)
    warnings = comparison([run_records([0.2] * 20), starved]).warnings

    assert not any("points apart" in text or "under 95 %" in text for text in warnings)
    (told,) = [text for text in warnings if "too short to tell" in text]
    assert told.startswith("heterogeneous got 80.0 % of the CPU time that it asked for, but")
    assert told.endswith("Make more steps in each launch (max_steps, --steps).")


def test_steps_that_train_other_numbers_of_samples_are_compared_by_the_sample() -> None:
    means_s = (0.098, 0.101, 0.101, 0.098, 0.102, 0.099)  # launches differ, clusters do not
    steps = [jittered(mean_s, seed=seed) for seed, mean_s in enumerate(means_s)]
    runs = [
        run_records(each, cluster=cluster, num_samples=samples)
        for pair in zip(steps[::2], steps[1::2], strict=True)
        for each, cluster, samples in zip(
            pair, ("one@a=ml.p3.2xlarge", "two@a=ml.p3.2xlarge:2"), (32, 64), strict=True
        )
    ]
    result = comparison(runs)

    (told,) = [text for text in result.warnings if "judged per sample" in text]
    assert told.startswith("A step of two has 64 samples and a step of one 32, so steps are")
    assert result.verdict.count(told) == result.pairs[0].verdict.count(told) == 1
    assert result.verdict.startswith(
        "two trains 2.0\u00d7 the samples a second (95 % interval 1."
    )
    # twice the price, twice the samples
    assert " of one; no difference seen in cost per sample: " in result.verdict
    assert "expensive" not in result.verdict
    assert headline(result).startswith("two: 2.0\u00d7 (1.")
    assert "the samples a second and no difference in cost seen per sample" in headline(result)
    speedup, saving = (
        next(row.cells[1] for row in comparison_rows(result) if row.label == label)
        for label in ("speed-up", "saving per step")
    )
    assert (speedup[1], saving[1:]) == (
        "samples a second",
        ("per sample", "no difference seen"),
    )
    assert saving_sentences(result)[0].startswith("two against one: saving per sample ")


def test_steps_that_train_as_many_samples_need_no_caution() -> None:
    assert not any(
        "judged per sample" in text for text in comparison(interleaved_runs()).warnings
    )


def test_this_machine_has_no_accelerator_that_is_unlike_another() -> None:
    emulation = Emulation(device_step_time_s=0.04)
    runs = [
        run_records(cluster=text, emulation=emulation) for text in ("here=local", "b@b=local")
    ]

    assert not any("accelerator is faster" in text for text in comparison(runs).warnings)


def test_quotas_that_were_delivered_need_no_caution() -> None:
    assert not any("CPU time" in text for text in comparison(interleaved_runs()).warnings)


def test_prices_that_are_not_list_prices_are_told_with_their_date() -> None:
    catalog = Catalog.load().with_prices(PUBLISHED_2022_PRICES)
    clusters = (
        "a=ml.p3.2xlarge",
        "b@a=ml.p4d.24xlarge",
        "c@a=ml.c5n.xlarge",
        "d@a=ml.c5.xlarge",
    )
    result = comparison([run_records(cluster=text) for text in clusters], catalog)

    prices = [text for text in result.warnings if text.startswith("The price of")]
    assert len(prices) == 3
    assert "ml.p3.2xlarge, 3.825 USD per hour, is the last one published" in prices[0]
    assert prices[0].endswith("(2022-10-27).")
    assert "ml.p4d.24xlarge, 37.688 USD per hour, was given by the user" in prices[1]
    assert "ml.c5n.xlarge, 0.2592 USD per hour, is estimated from its EC2 price" in prices[2]


def test_few_launches_and_few_steps_are_told() -> None:
    few = comparison([run_records([0.2] * 20)]).warnings
    enough = comparison(interleaved_runs()).warnings

    assert any("homogeneous was launched once: fewer than 3" in text for text in few)
    assert any("homogeneous has 19 measured steps, fewer than 30" in text for text in few)
    assert not any("fewer than" in text for text in enough)


def test_a_script_that_ended_before_its_steps_were_made_is_told() -> None:
    runs = interleaved_runs()
    steps = len(next(iter(runs[0].steps.values())))
    asked = [
        replace(run, job=run.job.model_copy(update={"max_steps": steps + 80})) for run in runs
    ]

    (told, *_) = [text for text in comparison(asked).warnings if "ended after" in text]

    assert told.startswith(f"homogeneous ended after {steps} of {steps + 80} steps")
    exact = [replace(run, job=run.job.model_copy(update={"max_steps": steps})) for run in runs]
    assert not any("ended after" in text for text in comparison(exact).warnings)


def test_what_to_do_is_named_as_everybody_calls_it() -> None:
    (told,) = [
        text for text in comparison([run_records([0.2] * 20)]).warnings if "rough" in text
    ]

    assert told.endswith("Make more steps in each launch (max_steps, --steps).")


def test_unlike_scales_are_told() -> None:
    other = Emulation(cores_per_vcpu=0.09, device_step_time_s=0.04)
    runs = [
        run_records(emulation=EMULATION),
        run_records(cluster=HETEROGENEOUS, emulation=other),
    ]

    (warning,) = [text for text in comparison(runs).warnings if "different scales" in text]
    assert "0.045, 0.09 cores for each vCPU" in warning


def test_unlike_device_times_are_told() -> None:
    other = Emulation(cores_per_vcpu=0.045, device_step_time_s=0.08)
    runs = [
        run_records(emulation=EMULATION),
        run_records(cluster=HETEROGENEOUS, emulation=other),
    ]

    (warning,) = [text for text in comparison(runs).warnings if "emulated devices" in text]
    assert "0.04, 0.08 seconds for each step" in warning


def test_unlike_quota_mechanisms_are_told() -> None:
    runs = [run_records(), run_records(cluster=HETEROGENEOUS)]
    runs[1].facts["cpu_quota_mechanism"] = "affinity"

    (warning,) = [text for text in comparison(runs).warnings if "CPU quotas" in text]
    assert "affinity, cgroup-v2" in warning


def test_unlike_scripts_are_told() -> None:
    other = run_records(cluster=HETEROGENEOUS)
    job = other.job.model_copy(update={"entry_point": "other.py"})
    runs = [run_records(), type(other)(**{**vars(other), "job": job})]

    (warning,) = [text for text in comparison(runs).warnings if "different scripts" in text]
    assert "other.py, train.py" in warning


def test_a_mix_of_emulated_and_measured_runs_is_emulated_and_told() -> None:
    runs = [run_records(), run_records(cluster=HETEROGENEOUS, emulation=EMULATION)]
    result = comparison(runs)

    assert result.evidence == "emulated"
    assert any("1 of 2 runs were emulated" in text for text in result.warnings)


def test_costs_of_jobs_with_unlike_work_are_not_compared() -> None:
    runs = [run_records([0.2] * 40), run_records([0.1] * 80, cluster=HETEROGENEOUS)]
    result = comparison(runs)

    assert result.pairs[0].saving_per_job_fraction is None
    assert any("took 40 steps and one of heterogeneous 80" in text for text in result.warnings)


def test_failed_runs_are_left_out_and_told() -> None:
    runs = interleaved_runs()
    runs[3] = run_records([5.0] * 40, cluster=HETEROGENEOUS, job_name="het-r2", state="Failed")
    result = comparison(runs)

    assert result.clusters[1].launches == 2
    assert result.clusters[1].step_time_s.mean == pytest.approx(0.1, rel=0.02)
    assert "Run het-r2 of heterogeneous ended as Failed and was left out." in result.warnings


def test_accelerators_with_one_declared_time_are_named() -> None:
    quick, other = Cluster.parse("quick@a=ml.p3.2xlarge"), Cluster.parse("other@a=ml.g5.xlarge")
    same = Cluster.parse("same@a=ml.p3.8xlarge")

    def told(*clusters: Cluster, emulation: Emulation | None) -> list[str]:
        runs = [
            run_records([0.1] * 20, cluster=cluster, emulation=emulation)
            for cluster in clusters
        ]
        return [each.text for each in comparison(runs).findings if "declared" in each.text]

    (text,) = told(quick, other, emulation=EMULATION)
    assert text.startswith("ml.p3.2xlarge (NVIDIA V100) and ml.g5.xlarge (NVIDIA A10G) have")
    assert told(quick, same, emulation=EMULATION) == []
    assert told(quick, other, emulation=None) == []


@pytest.mark.parametrize(("device_time_s", "is_told"), [(0.01, True), (0.08, False)])
def test_a_trainer_that_is_held_up_by_its_own_passes_is_told(
    device_time_s: float, *, is_told: bool
) -> None:
    run = run_records(
        [0.1] * 20,
        cluster=HETEROGENEOUS,
        device_time_s=device_time_s,
        cpu_used_fraction=0.99,
        emulation=Emulation(cores_per_vcpu=0.05, device_step_time_s=device_time_s),
    )
    fed = replace(run, loader={"algo-1-rank0": [loader_record("algo-2", 20)]})

    kinds = [each.kind for each in comparison([fed]).findings]

    assert kinds.count("own_steps") == is_told
