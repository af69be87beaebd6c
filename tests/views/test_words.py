from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.compared.pair_result import PairResult
from smtc_lab.metrics.result import Interval
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.report import explanations
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text import words
from tests.kit.comparison_runs import C5, HETEROGENEOUS, HOMOGENEOUS, P3
from tests.kit.comparisons import example_comparison

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison


def _pair(speedup: Interval, saving: Interval | None) -> PairResult:
    return PairResult(
        baseline="homogeneous",
        candidate="heterogeneous",
        speedup=speedup,
        saving_fraction=saving,
        saving_per_job_fraction=None,
        evidence="emulated",
        verdict="",
    )


FASTER = Interval(mean=5.8, low=5.6, high=6.0)
SLOWER = Interval(mean=0.8, low=0.79, high=0.81)
SAME = Interval(mean=1.0, low=0.98, high=1.02)
CHEAPER = Interval(mean=0.74, low=0.72, high=0.75)
DEARER = Interval(mean=-0.2, low=-0.22, high=-0.18)
NO_SAVING = Interval(mean=0.01, low=-0.02, high=0.04)


@pytest.mark.parametrize(
    ("speedup", "saving", "finding"),
    [
        (
            FASTER,
            CHEAPER,
            "5.8\u00d7 (5.6\u20136.0) faster and 74 % (72\u201375) cheaper per step",
        ),
        (
            SLOWER,
            DEARER,
            "1.25\u00d7 (1.23\u20131.27) slower and 20 % (18\u201322) dearer per step",
        ),
        (FASTER, None, "5.8\u00d7 (5.6\u20136.0) faster, cost unknown"),
        (
            SAME,
            NO_SAVING,
            "no difference in step time seen and no difference in cost seen per step",
        ),
    ],
)
def test_the_finding_of_a_pair(
    speedup: Interval, saving: Interval | None, finding: str
) -> None:
    assert words.pair_finding(_pair(speedup, saving)) == finding


def _with_pairs(*pairs: PairResult) -> Comparison:
    return example_comparison()[0].model_copy(update={"pairs": pairs})


def test_the_headline_names_the_cluster_and_the_evidence() -> None:
    assert words.headline(_with_pairs(_pair(FASTER, CHEAPER))) == (
        "heterogeneous: 5.8\u00d7 (5.6\u20136.0) faster and 74 % (72\u201375) cheaper per step "
        "(emulated)"
    )


def test_the_headline_of_several_pairs_tells_the_fastest() -> None:
    other = _pair(SLOWER, CHEAPER).model_copy(update={"candidate": "slow"})

    assert words.headline(_with_pairs(other, _pair(FASTER, CHEAPER))).startswith(
        "heterogeneous:"
    )


def test_the_headline_of_one_cluster_is_its_step_time() -> None:
    comparison, _ = example_comparison([HOMOGENEOUS], emulated=False)

    told = words.headline(comparison)

    assert told == "homogeneous: 0.609 s (0.594\u20130.623) per step (measured)"


def test_each_price_is_told_once_with_kind_and_date() -> None:
    priced = replace(C5, price_kind="user", price_date="2026-11-01")
    comparison, _ = example_comparison(
        [HOMOGENEOUS, HETEROGENEOUS, replace(HETEROGENEOUS, name="new", groups=(P3, priced))]
    )

    assert words.price_line(comparison) == (
        "prices: ml.p3.2xlarge $3.825/h historical 2022-10-27; "
        "ml.c5.9xlarge $1.836/h historical 2022-10-27; ml.c5.9xlarge $1.836/h user 2026-11-01"
    )


def _with_quotas(**cores: float) -> Comparison:
    """Return a comparison whose instances had these quotas, by group."""
    comparison, _ = example_comparison()
    clusters = [
        cluster.model_copy(
            update={
                "instance_groups": tuple(
                    group.model_copy(
                        update={"cpu_quota_cores": cores[group.instance_group_name]}
                    )
                    for group in cluster.instance_groups
                )
            }
        )
        for cluster in comparison.clusters
    ]
    return comparison.model_copy(update={"clusters": tuple(clusters)})


def test_the_scale_line_names_the_scale_of_each_type() -> None:
    names = [
        group.instance_group_name
        for group in example_comparison()[0].clusters[1].instance_groups
    ]
    comparison = _with_quotas(**dict(zip(names, (0.08, 0.54), strict=True)))

    assert words.scale_line(comparison).startswith(
        "scale model: 1 vCPU of ml.p3.2xlarge = 0.01 cores, of ml.c5.9xlarge 0.015, declared"
    )


def test_one_core_is_one_core() -> None:
    assert fmt.cores(1.0) == "1 core"
    assert fmt.cores(0.5) == "0.5 cores"
    assert words.scale_words(1.0, None) == "scale model: 1 vCPU = 1 core"


def test_the_scale_line_of_vcpus_alike_names_no_type() -> None:
    assert words.scale_line(example_comparison()[0]).startswith(
        "scale model: 1 vCPU = 0.031 cores, declared"
    )


def test_the_scale_of_jobs_that_wait_is_that_of_each_type() -> None:
    emulation = Emulation(
        cores_per_vcpu=0.01, device_step_time_s=0.03, relative_cpu_speed={"c5": 1.5}
    )
    clusters = (
        "dnn_group=ml.p3.2xlarge:1",
        "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1",
    )
    jobs = [
        TrainingJob(entry_point="a.py", cluster=Cluster.parse(each), emulation=emulation)
        for each in clusters
    ]

    assert words.scale_of_jobs(jobs) == (
        "scale model: 1 vCPU of ml.p3.2xlarge = 0.01 cores, of ml.c5.9xlarge 0.015, declared "
        "device time 30 ms per step"
    )
    plain = [job.model_copy(update={"emulation": None}) for job in jobs]
    assert words.scale_of_jobs(plain) == ""


def test_a_device_that_was_slowed_down_is_told_with_both_times() -> None:
    comparison, _ = example_comparison()
    emulation = {"cores_per_vcpu": 0.01, "device_step_time_s": 0.03, "time_stretch": 1.5}
    slowed = comparison.model_copy(update={"emulation": emulation})

    assert words.scale_line(slowed).endswith(
        "declared device time 30 ms per step, 45 ms at the pace of this machine"
    )
    assert any("1.50 times slower" in each for each in explanations.emulation_sentences(slowed))


def test_emulation_is_explained_with_its_scale_and_its_limits() -> None:
    comparison, _ = example_comparison()

    text = " ".join(explanations.emulation_sentences(comparison))

    assert "0.031 cores" in text
    assert "40 ms of each step" in text
    assert "not of the hardware" in text


def test_a_measured_comparison_says_that_nothing_was_emulated() -> None:
    comparison, _ = example_comparison(emulated=False)

    assert explanations.emulation_sentences(comparison)[0].startswith("Nothing was emulated")


@pytest.mark.parametrize(
    ("warm_up_steps", "sentence"),
    [
        ((), "no step was left out"),
        ((0, 0), "no step was left out"),
        ((1, 1), "the first step of each launch left out, 96 steps measured"),
        ((6, 6), "the first 6 steps of each launch left out, 96 steps measured"),
        ((1, 11), "the first 1, 11 steps of its launches left out, 96 steps measured"),
    ],
)
def test_warm_up_is_told_in_words(warm_up_steps: tuple[int, ...], sentence: str) -> None:
    cluster = example_comparison()[0].clusters[0]

    changed = cluster.model_copy(update={"warm_up_steps": warm_up_steps})

    assert explanations.warm_up_sentence(changed) == sentence


def test_few_launches_are_called_few() -> None:
    one, _ = example_comparison([replace(HOMOGENEOUS, launches=1)])
    three, _ = example_comparison()
    five, _ = example_comparison([replace(HOMOGENEOUS, launches=5)])

    assert "Measure at least three rounds." in explanations.statistics_sentences(one)[-1]
    assert "With 3 launches" in explanations.statistics_sentences(three)[-1]
    assert "is wide" not in " ".join(explanations.statistics_sentences(five))


def test_jobs_of_unequal_work_are_not_compared_by_job() -> None:
    unequal, _ = example_comparison()
    equal, _ = example_comparison([HOMOGENEOUS, replace(HETEROGENEOUS, steps=40)])

    assert explanations.saving_sentences(unequal)[0].endswith(
        "saving per step 75 % (74\u201375). Their launches did different work, so costs per "
        "job are not compared."
    )
    assert "per job, start-up and end included, 6" in explanations.saving_sentences(equal)[0]


def test_a_saving_around_zero_is_no_difference() -> None:
    comparison = _with_pairs(_pair(SAME, NO_SAVING))

    assert (
        "saving per step 1 % (\u22122 to 4), no difference seen"
        in (explanations.saving_sentences(comparison)[0])
    )


def test_the_spread_is_told_by_median_and_99th_percentile() -> None:
    comparison, runs = example_comparison([HOMOGENEOUS])

    assert "half of the steps took at most 0.599 s" in explanations.spread_finding(
        comparison, runs
    )
    assert "no step records" in explanations.spread_finding(comparison, [])
