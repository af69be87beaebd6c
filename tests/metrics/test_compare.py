from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import CatalogError, StoreError
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.compared.measured_cluster import is_known_within
from smtc_lab.metrics.finding import caution
from smtc_lab.metrics.result import evidence_of
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from tests.kit.records import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    STARTED_S,
    interleaved_runs,
    jittered,
    run_records,
    step_record,
)

if TYPE_CHECKING:
    from smtc_lab.metrics.records.records import RunRecords
    from tests.kit.golden_texts import GoldenTexts

EMULATION = Emulation(time_dilation=20.0, cores_per_vcpu=0.045, device_step_time_s=0.04)


def comparison(runs: list[RunRecords], catalog: Catalog | None = None) -> Comparison:
    return compare_runs(
        runs,
        catalog=catalog or Catalog.load(),
        created="2026-11-03T10:15:00+00:00",
        machine={"cores": 2},
    )


def test_a_faster_and_cheaper_cluster_is_told_in_one_sentence(
    golden_texts: GoldenTexts,
) -> None:
    result = comparison(interleaved_runs(emulation=EMULATION))

    assert result.evidence == "emulated"
    assert result.emulation == {
        "time_dilation": 20.0,
        "cores_per_vcpu": 0.045,
        "device_step_time_s": 0.04,
    }
    assert result.speedup is not None
    assert result.speedup.mean == pytest.approx(6.0, rel=0.02)
    assert result.saving_fraction is not None
    assert result.saving_fraction.mean == pytest.approx(1 - 5.661 / 3.825 / 6, abs=0.005)
    golden_texts("verdicts", {"faster and cheaper": result.verdict})


def test_this_machine_as_it_is_stands_in_for_nothing() -> None:
    def evidence(cluster: str, **declared: Any) -> str:
        emulation = Emulation(**declared)
        return evidence_of(
            TrainingJob(
                entry_point="train.py", cluster=Cluster.parse(cluster), emulation=emulation
            )
        )

    assert evidence("here@group=local:1") == "measured"
    assert evidence("here@group=local:1", device_step_time_s=0.01) == "emulated"
    assert evidence("here@group=local:1", link="between=1Gbit/100us") == "emulated"
    assert evidence("here@group=local:1,data=ml.c5.xlarge:1") == "emulated"


def test_a_run_without_emulation_is_measured() -> None:
    result = comparison(interleaved_runs())

    assert result.evidence == "measured"
    assert result.emulation is None
    assert "emulated" not in result.verdict


@pytest.mark.parametrize(
    ("emulation", "evidence"), [(EMULATION, "emulated"), (None, "measured")]
)
def test_every_interval_says_whether_it_was_measured(
    emulation: Emulation | None, evidence: str
) -> None:
    result = comparison(interleaved_runs(emulation=emulation))

    intervals = [result.speedup, result.saving_fraction, result.pairs[0].speedup]
    for cluster in result.clusters:
        intervals += [cluster.step_time_s, cluster.usd_per_step, cluster.samples_per_s]
    known = [interval for interval in intervals if interval is not None]
    assert {interval.evidence for interval in known} == {evidence}
    assert {interval.level for interval in known} == {0.95}


def test_the_numbers_of_a_cluster_are_those_of_its_measured_steps() -> None:
    run = run_records(
        [9.0, *[0.2] * 39],
        device_time_s=0.05,
        data_wait_fraction=0.25,
        startup_s=3.0,
        shutdown_s=1.0,
        cpu_used_fraction=0.7,
        cpu_delivered_fraction=0.98,
    )
    cluster = comparison([run]).clusters[0]

    assert cluster.launches == 1
    assert cluster.steps == 39
    assert cluster.warm_up_steps == (1,)
    assert cluster.step_time_s.mean == pytest.approx(0.2)
    assert cluster.usd_per_hour == 3.825
    assert cluster.usd_per_step is not None
    assert cluster.usd_per_step.mean == pytest.approx(0.2 * 3.825 / 3600)
    assert cluster.usd_per_1000_steps is not None
    assert cluster.usd_per_1000_steps.mean == pytest.approx(200 * 3.825 / 3600)
    assert cluster.usd_per_job == pytest.approx((3 + 9 + 39 * 0.2 + 1) * 3.825 / 3600)
    assert cluster.startup_s == pytest.approx(3.0)
    assert cluster.samples_per_s is not None
    assert cluster.samples_per_s.mean == pytest.approx(160.0)
    assert cluster.data_wait_fraction == pytest.approx(0.25)
    assert cluster.utilization.device == pytest.approx(0.25)
    assert cluster.utilization.cpu == {"dnn_group": pytest.approx(0.7)}
    assert cluster.cpu_delivered_fraction == pytest.approx(0.98)
    assert cluster.cpu_quota_mechanism == "cgroup-v2"
    assert cluster.runs == ("train-r1",)


def test_a_group_is_described_with_role_price_and_quota() -> None:
    groups = comparison(interleaved_runs(cpu_quota_cores=0.36)).clusters[1].instance_groups

    assert [group.role for group in groups] == ["train", "data"]
    assert [group.vcpus for group in groups] == [8, 36]
    assert [group.price_kind for group in groups] == ["historical", "list"]
    assert [group.cpu_quota_cores for group in groups] == [0.36, 0.36]


def test_this_machine_as_it_is_has_no_price_and_no_quota() -> None:
    runs = [
        run_records(jittered(0.2, seed=n), cluster="a=local", cpu_quota_cores=None)
        for n in range(3)
    ]
    cluster = comparison(runs).clusters[0]

    assert cluster.usd_per_hour is None
    assert cluster.usd_per_job is None
    assert cluster.instance_groups[0].vcpus is None
    assert cluster.cpu_delivered_fraction is None
    assert cluster.cpu_quota_mechanism == "none"
    assert cluster.utilization.cpu == {"a": pytest.approx(0.8)}


def test_one_cluster_has_no_other_to_be_compared_with() -> None:
    result = comparison([run_records()])

    assert result.pairs == ()
    assert result.speedup is None


def test_equal_clusters_show_no_difference() -> None:
    runs = []
    for number in range(3):
        for name in ("one", "two"):
            seed = number + 10 * (name == "two")
            runs.append(
                run_records(jittered(0.2, seed=seed), cluster=f"{name}@a=ml.p3.2xlarge")
            )

    speedup = comparison(runs).speedup
    assert speedup is not None
    assert speedup.low < 1 < speedup.high


def test_every_other_cluster_is_compared_with_the_first() -> None:
    runs = [
        run_records(jittered(mean_s, seed=number), cluster=f"{name}@a=ml.p3.2xlarge")
        for number in range(3)
        for name, mean_s in (("slow", 0.4), ("fast", 0.2), ("faster", 0.1))
    ]
    result = comparison(runs)

    assert [pair.candidate for pair in result.pairs] == ["fast", "faster"]
    assert {pair.baseline for pair in result.pairs} == {"slow"}
    assert result.speedup == result.pairs[0].speedup
    found = [pair.speedup.mean for pair in result.pairs if pair.speedup]
    assert found == pytest.approx([2, 4], rel=0.05)


def test_the_step_time_of_a_job_is_that_of_its_slowest_rank() -> None:
    run = run_records([0.3] * 40, num_ranks=2)
    run.steps["algo-1-rank1"] = [
        step_record(step=n, end_time_s=STARTED_S + 2 + 0.3 * (n + 1), step_time_s=0.2 + n % 2)
        for n in range(40)
    ]
    cluster = comparison([run]).clusters[0]

    assert cluster.step_time_s.mean == pytest.approx((19 * 0.3 + 20 * 1.2) / 39)
    assert cluster.steps == 39
    assert cluster.samples_per_s is not None
    assert cluster.samples_per_s.mean == pytest.approx(64 / cluster.step_time_s.mean)


def test_steps_that_only_one_rank_recorded_do_not_count() -> None:
    run = run_records([0.3] * 40, num_ranks=2)
    del run.steps["algo-1-rank1"][30:]

    assert comparison([run]).clusters[0].steps == 29


def test_an_unknown_batch_size_leaves_the_throughput_unknown() -> None:
    assert comparison([run_records(num_samples=None)]).clusters[0].samples_per_s is None


def test_an_unknown_device_time_leaves_the_utilization_unknown() -> None:
    assert comparison([run_records()]).clusters[0].utilization.device is None


def test_a_type_without_a_price_makes_the_cost_unknown() -> None:
    runs = [
        run_records(jittered(mean_s, seed=n), cluster=f"{name}@a={kind}", job_name=f"j{n}")
        for n in range(3)
        for name, kind, mean_s in (
            ("old", "ml.p3.2xlarge", 0.4),
            ("new", "ml.p5e.48xlarge", 0.1),
        )
    ]
    result = comparison(runs)

    assert result.saving_fraction is None
    assert result.clusters[1].usd_per_1000_steps is None
    assert result.pairs[0].saving_per_job_fraction is None


def test_a_cluster_is_as_well_off_as_its_worst_group() -> None:
    run = run_records([0.2] * 40, cluster=HETEROGENEOUS)
    starved = run_records([0.2] * 40, cpu_delivered_fraction=0.8)
    run.system["algo-2"] = starved.system["algo-1"]

    assert comparison([run]).clusters[0].cpu_delivered_fraction == pytest.approx(0.8)


def test_the_saving_of_a_job_counts_its_start_up() -> None:
    runs = [
        run_records([1.0] * 40, startup_s=10.0, shutdown_s=0.0),
        run_records([0.2] * 40, cluster=HETEROGENEOUS, startup_s=40.0, shutdown_s=0.0),
    ]
    pair = comparison(runs).pairs[0]

    assert pair.saving_fraction is not None
    assert pair.saving_fraction.mean == pytest.approx(1 - 5.661 / 3.825 * 0.2)
    assert pair.saving_per_job_fraction == pytest.approx(1 - 5.661 * 48 / (3.825 * 50))


def short_launches(emulation: Emulation | None = None) -> list[RunRecords]:
    """Return launches whose steps are 70 % cheaper on the second cluster, and dearer at all."""
    return [
        run_records(
            jittered(mean_s, seed=number),
            cluster=cluster,
            job_name=f"r{number}-{1000 * mean_s:.0f}ms",
            startup_s=10.0,
            shutdown_s=5.0,
            emulation=emulation,
        )
        for number in range(3)
        for cluster, mean_s in ((HOMOGENEOUS, 0.1), (HETEROGENEOUS, 0.02))
    ]


def test_each_part_of_the_billed_time_is_told_with_its_price() -> None:
    cluster = comparison(short_launches()).clusters[0]

    assert cluster.bill is not None
    assert cluster.bill.startup_s == pytest.approx(cluster.startup_s)
    assert cluster.bill.steps_s == pytest.approx(6.0, rel=0.02)
    assert cluster.bill.end_s == pytest.approx(5.0, abs=1e-5)
    assert cluster.bill.billed_usd == pytest.approx(cluster.usd_per_job)


def test_steps_that_are_cheaper_in_launches_that_are_dearer_are_told_with_the_verdict(
    golden_texts: GoldenTexts,
) -> None:
    result = comparison(short_launches())
    (caution,) = [each for each in result.findings if each.kind == "opposite_costs"]

    assert result.saving_fraction is not None
    assert result.saving_fraction.mean == pytest.approx(0.70, abs=0.01)
    assert result.pairs[0].saving_per_job_fraction == pytest.approx(-0.14, abs=0.01)
    assert caution.text in result.verdict
    assert caution.text in result.pairs[0].verdict
    golden_texts("verdicts", {"measured": result.verdict})
    # of an emulation, start-up and end have no price
    emulated = comparison(short_launches(EMULATION))
    assert "opposite_costs" not in {each.kind for each in emulated.findings}
    assert emulated.pairs[0].saving_per_job is None


def test_costs_that_say_the_same_are_not_told_twice() -> None:
    result = comparison(interleaved_runs())

    assert "opposite_costs" not in {each.kind for each in result.findings}
    assert "dearer" not in result.verdict


def test_a_comparison_of_an_older_version_has_no_bill() -> None:
    values = json.loads(comparison(interleaved_runs()).to_json())
    for cluster in values["clusters"]:
        del cluster["bill"]

    assert Comparison.from_json(json.dumps(values)).clusters[0].bill is None


def test_launches_of_different_rounds_are_not_paired() -> None:
    drift = (1.0, 2.0, 1.0, 2.0)
    runs = []
    for number, slow in enumerate(drift):
        for cluster, mean_s in ((HOMOGENEOUS, 0.6), (HETEROGENEOUS, 0.1)):
            times_s = jittered(mean_s * slow, seed=number)
            runs.append(run_records(times_s, cluster=cluster, job_name=f"r{number}"))
    paired = comparison(runs).speedup
    runs[0] = run_records(jittered(0.6), state="Failed", job_name="r0")
    runs[7] = run_records(jittered(0.2), state="Failed", cluster=HETEROGENEOUS, job_name="r3")
    unpaired = comparison(runs).speedup

    assert paired is not None
    assert unpaired is not None
    assert paired.high - paired.low < 0.1
    assert unpaired.high - unpaired.low > 2.0


def test_no_runs_say_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"no runs \(got 0\).*Run at least one"):
        comparison([])


def test_a_cluster_without_a_completed_run_says_what_to_do() -> None:
    runs = [run_records(), run_records(cluster=HETEROGENEOUS, state="Stopped")]

    with pytest.raises(
        ValueError, match=r"'heterogeneous' has no launch.*Stopped.*run it again"
    ):
        comparison(runs)


def test_a_cluster_without_a_step_says_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"train-r1 of homogeneous recorded no step.*--log"):
        comparison([run_records([])])


def test_two_clusters_of_one_name_are_refused() -> None:
    runs = [run_records(), run_records(cluster="a=ml.g5.xlarge")]

    with pytest.raises(ValueError, match=r"called 'homogeneous' \(.*Give each a name"):
        comparison(runs)


def test_a_run_without_a_start_time_is_refused() -> None:
    run = run_records()
    run = type(run)(**{**vars(run), "started_s": None})

    with pytest.raises(ValueError, match=r"train-r1 of homogeneous has no start time"):
        comparison([run])


def test_a_type_that_is_not_in_the_catalog_is_refused() -> None:
    with pytest.raises(CatalogError, match=r"ml\.p3\.3xlarge"):
        comparison([run_records(cluster="a=ml.p3.3xlarge")])


def test_facts_of_another_kind_are_taken_as_unknown() -> None:
    run = run_records(emulation=EMULATION)
    run.facts.update(
        cores_per_vcpu="many",
        time_dilation=[],
        num_cores=True,
        cpu_quota_cores=[1],
        cpu_quota_mechanism=None,
    )
    result = comparison([run])

    assert result.emulation == {"cores_per_vcpu": None, "device_step_time_s": 0.04}
    assert result.clusters[0].instance_groups[0].cpu_quota_cores is None
    assert result.clusters[0].cpu_quota_mechanism == "none"


def test_warnings_of_an_earlier_version_are_findings() -> None:
    told = json.loads(comparison(interleaved_runs()).to_json())
    del told["findings"]
    told["warnings"] = ["It was noisy."]

    read = Comparison.from_json(json.dumps(told))

    assert read.warnings == ("It was noisy.",)
    assert read.findings == (caution("caution", "It was noisy."),)


@pytest.mark.parametrize("warnings", [True, 3, {"a": "b"}, None])
def test_sentences_that_are_no_list_are_damage(warnings: object) -> None:
    told = json.loads(comparison(interleaved_runs()).to_json())
    del told["findings"]
    told["warnings"] = warnings

    with pytest.raises(StoreError, match="1 of its values do not fit"):
        Comparison.from_json(json.dumps(told))


def test_a_comparison_goes_to_json_and_back_unchanged() -> None:
    result = comparison(interleaved_runs(emulation=EMULATION))

    assert Comparison.from_json(result.to_json()) == result


def test_the_hyperparameters_and_the_speed_of_the_machine_are_kept() -> None:
    runs = [run_records(emulation=EMULATION), run_records(cluster=HETEROGENEOUS)]
    job = runs[0].job.model_copy(update={"hyperparameters": {"lr": 0.1}})
    known = {"time_dilation": 20.0, "cpu_speed": 0.9, "cpu_rate": 640.0}
    facts = {**runs[0].facts, **known, "cpu_benchmark_version": 2}
    first = type(runs[0])(**{**vars(runs[0]), "job": job, "facts": facts})

    result = comparison([first, runs[1]])

    assert [cluster.hyperparameters for cluster in result.clusters] == [{"lr": 0.1}, {}]
    assert result.emulation == {
        "cores_per_vcpu": 0.045,
        "device_step_time_s": 0.04,
        **known,
        "cpu_benchmark_version": 2.0,
    }
    assert Comparison.from_json(result.to_json()) == result


def test_a_speed_up_is_known_within_a_fraction_only_where_there_is_one() -> None:
    runs = interleaved_runs()
    alone = [run for run in runs if run.label == runs[0].label]

    assert is_known_within(runs, 0.5, looks=3)
    assert not is_known_within(interleaved_runs(rounds=1), 0.5, looks=3)
    assert not is_known_within(alone, 0.5, looks=3)
