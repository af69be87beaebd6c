from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from smtc_lab.metrics.compared.pair_result import PairResult
from smtc_lab.metrics.result import Interval
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.report import explanations
from smtc_lab.views.text import words
from smtc_lab.views.text.emulated import emulation_words, of_jobs
from tests.kit.comparison_runs import C5, HETEROGENEOUS, HOMOGENEOUS, P3
from tests.kit.comparisons import example_comparison

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from tests.kit.golden_texts import GoldenTexts


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


def _with_pairs(*pairs: PairResult) -> Comparison:
    return example_comparison()[0].model_copy(update={"pairs": pairs})


def _waiting_jobs(emulation: Emulation | None) -> list[TrainingJob]:
    clusters = (
        "dnn_group=ml.p3.2xlarge:1",
        "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1",
    )
    return [
        TrainingJob(entry_point="a.py", cluster=Cluster.parse(each), emulation=emulation)
        for each in clusters
    ]


def test_findings_headlines_prices_and_scales_in_words(golden_texts: GoldenTexts) -> None:
    two, _ = example_comparison()
    measured, _ = example_comparison([HOMOGENEOUS], emulated=False)
    priced = replace(C5, price_kind="user", price_date="2026-11-01")
    three, _ = example_comparison(
        [HOMOGENEOUS, HETEROGENEOUS, replace(HETEROGENEOUS, name="new", groups=(P3, priced))]
    )
    slow = _pair(SLOWER, CHEAPER).model_copy(update={"candidate": "slow"})
    older = {"cores_per_vcpu": 0.01, "device_step_time_s": 0.03, "time_stretch": 1.5}
    emulation = Emulation(device_step_time_s=0.03, relative_cpu_speed={"c5": 1.5})
    faster = emulation.model_copy(update={"device_step_time_s": 0.012})
    two_devices = [*_waiting_jobs(emulation), *_waiting_jobs(faster)]

    golden_texts(
        "report",
        {
            "faster and cheaper": words.pair_finding(_pair(FASTER, CHEAPER)),
            "slower and dearer": words.pair_finding(_pair(SLOWER, DEARER)),
            "cost unknown": words.pair_finding(_pair(FASTER, None)),
            "no difference": words.pair_finding(_pair(SAME, NO_SAVING)),
            "headline": words.headline(_with_pairs(_pair(FASTER, CHEAPER))),
            "headline of the fastest": words.headline(
                _with_pairs(slow, _pair(FASTER, CHEAPER))
            ),
            "headline of one cluster": words.headline(measured),
            "each price once": words.price_line(three),
            "cluster time": words.scale_line(two),
            "an older version's seconds": words.scale_line(
                two.model_copy(update={"emulation": older})
            ),
            "jobs that wait": of_jobs(_waiting_jobs(emulation)),
            "jobs of two devices": of_jobs(two_devices),
            "a device alone": emulation_words("", 0.03),
            "measured": of_jobs(_waiting_jobs(None)),
        },
    )


def test_what_a_report_explains(golden_texts: GoldenTexts) -> None:
    two, _ = example_comparison()
    measured, _ = example_comparison(emulated=False)
    equal, _ = example_comparison([HOMOGENEOUS, replace(HETEROGENEOUS, steps=40)])
    one, runs = example_comparison([HOMOGENEOUS])
    older = {"cores_per_vcpu": 0.01, "device_step_time_s": 0.03, "time_stretch": 1.5}
    told = {
        "an emulation": explanations.emulation_sentences(two),
        "of an older version": explanations.emulation_sentences(
            two.model_copy(update={"emulation": older})
        ),
        "nothing emulated": explanations.emulation_sentences(measured),
        "savings of unequal work": explanations.saving_sentences(two),
        "savings of equal work": explanations.saving_sentences(equal),
        "a saving around zero": explanations.saving_sentences(
            _with_pairs(_pair(SAME, NO_SAVING))
        ),
        "spread": [explanations.spread_finding(one, runs)],
        "spread without records": [explanations.spread_finding(one, [])],
    }
    for launches in (1, 3, 5):
        few, _ = example_comparison([replace(HOMOGENEOUS, launches=launches)])
        told[f"{launches} launches"] = explanations.statistics_sentences(few)
    for steps in ((), (0, 0), (1, 1), (6, 6), (1, 11)):
        cluster = two.clusters[0].model_copy(update={"warm_up_steps": steps})
        told[f"warm-up of {steps}"] = [explanations.warm_up_sentence(cluster)]

    golden_texts("report", {case: "\n".join(sentences) for case, sentences in told.items()})
