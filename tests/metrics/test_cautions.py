from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import PUBLISHED_2022_PRICES, Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.spec.emulation import Emulation
from tests.kit.records import HETEROGENEOUS, interleaved_runs, jittered, run_records

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
        num_resamples=400,
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
