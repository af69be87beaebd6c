from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog.catalog import PUBLISHED_2022_PRICES, Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.compared.result_cautions import UNLIKE_SAMPLES
from smtc_lab.spec.emulation import Emulation
from smtc_lab.views.report.explanations import saving_sentences
from smtc_lab.views.text.table import comparison_rows
from smtc_lab.views.text.words import headline, scale_line
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
    from tests.kit.golden_texts import GoldenTexts

EMULATION = Emulation(time_dilation=20.0, cores_per_vcpu=0.045, device_step_time_s=0.04)


def comparison(runs: list[RunRecords], catalog: Catalog | None = None) -> Comparison:
    return compare_runs(
        runs,
        catalog=catalog or Catalog.load(),
        created="2026-11-03T10:15:00+00:00",
        machine={"cores": 2},
    )


def held_up(device_time_s: float) -> list[RunRecords]:
    """Return a fed run whose own passes keep its CPU busy."""
    run = run_records(
        [0.1] * 20,
        cluster=HETEROGENEOUS,
        device_time_s=device_time_s,
        cpu_used_fraction=0.99,
        emulation=Emulation(cores_per_vcpu=0.05, device_step_time_s=device_time_s),
    )
    return [replace(run, loader={"algo-1-rank0": [loader_record("algo-2", 20)]})]


def another(**changes: Any) -> list[RunRecords]:
    """Return a run of each cluster, the second one so."""
    return [run_records(emulation=EMULATION), run_records(cluster=HETEROGENEOUS, **changes)]


def starved() -> list[RunRecords]:
    runs = interleaved_runs()
    for run in runs[1::2]:
        run.system.update(run_records(jittered(0.1), cpu_delivered_fraction=0.9).system)
    return runs


def busy_devices() -> list[RunRecords]:
    """Return runs whose devices work in nearly all of a step, one without its CPU time."""
    return [
        run_records(
            jittered(0.2, 300),
            cluster=cluster,
            emulation=EMULATION,
            device_time_s=0.196,
            cpu_delivered_fraction=share,
        )
        for cluster, share in ((P3, 1.0), (FED, 0.7))
    ]


def with_steps(asked: int) -> list[RunRecords]:
    """Return launches that were to make so many steps and made 40."""
    runs = interleaved_runs()
    return [replace(run, job=run.job.model_copy(update={"max_steps": asked})) for run in runs]


def of_another_script() -> list[RunRecords]:
    one, other = run_records(), run_records(cluster=HETEROGENEOUS)
    job = other.job.model_copy(update={"entry_point": "other.py"})
    return [one, replace(other, job=job)]


def of_another_quota() -> list[RunRecords]:
    runs = [run_records(), run_records(cluster=HETEROGENEOUS)]
    runs[1].facts["cpu_quota_mechanism"] = "duty-cycle"
    return runs


def on(*clusters: str, emulation: Emulation | None = EMULATION) -> list[RunRecords]:
    return [run_records(cluster=each, emulation=emulation) for each in clusters]


FED = "fed@a=ml.p3.2xlarge,b=ml.c5.9xlarge"
P3, G5 = "quick@a=ml.p3.2xlarge", "other@a=ml.g5.xlarge"
PRICED = (P3, "b@a=ml.p4d.24xlarge", "c@a=ml.c5n.xlarge", "d@a=ml.c5.xlarge")
FEW = ["few_launches", "few_steps", "price"]
SITUATIONS: dict[str, tuple[list[RunRecords], list[str]]] = {
    "nothing amiss": (interleaved_runs(), ["price"]),
    "unlike shares of their CPU time": (
        starved(),
        ["unlike_delivered", "undelivered", "price"],
    ),
    "unlike shares where the device is busy all the same": (
        busy_devices(),
        ["few_launches", "price"],
    ),
    "too few data workers": (
        [run_records(cluster=each, cpu_used_fraction=0.4) for each in (P3, FED)],
        ["few_workers", *FEW],
    ),
    "few data workers and nothing waits": (
        [
            run_records(cluster=each, cpu_used_fraction=0.4, data_wait_fraction=0.1)
            for each in (P3, FED)
        ],
        FEW,
    ),
    "passes of vCPUs for want of a device time": (
        on(P3, FED, emulation=Emulation(time_dilation=9.0, cores_per_vcpu=0.05)),
        ["no_device_time", *FEW],
    ),
    "a declared device time and no accelerator": (
        on("a@a=ml.c5.xlarge"),
        ["no_accelerator", "few_launches", "few_steps"],
    ),
    "a share that was looked at too shortly": (
        [
            run_records([0.2] * 20),
            run_records([0.1] * 20, cluster=HETEROGENEOUS, cpu_delivered_fraction=0.8),
        ],
        ["undelivered", "few_launches", "few_steps", "price"],
    ),
    "a bad share of hardly anything": (
        [
            run_records(
                [step_s] * 200,
                cluster=each,
                cpu_used_fraction=0.02,
                data_wait_fraction=0.1,
                **share,
            )
            for each, step_s, share in (
                (P3, 0.2, {}),
                (FED, 0.1, {"cpu_delivered_fraction": 0.7}),
            )
        ],
        ["few_launches", "price"],
    ),
    "few launches and few steps": (
        [run_records([0.2] * 20)],
        ["few_launches", "few_steps", "price"],
    ),
    "a script that ended before its steps": (
        with_steps(120),
        ["ended_early", "ended_early", "price"],
    ),
    "a script that made its steps": (with_steps(40), ["price"]),
    "an older version's clock": (
        another(emulation=Emulation(cores_per_vcpu=0.09, device_step_time_s=0.04)),
        ["unlike_scales", *FEW],
    ),
    "another device time": (
        another(emulation=Emulation(time_dilation=9.0, device_step_time_s=0.08)),
        ["unlike_devices", *FEW],
    ),
    "emulated and measured": (
        another(),
        ["unlike_evidence", *FEW],
    ),
    "another way of quotas": (
        of_another_quota(),
        ["unlike_quotas", *FEW],
    ),
    "another script": (
        of_another_script(),
        ["unlike_scripts", *FEW],
    ),
    "another number of steps": (
        [run_records([0.2] * 40), run_records([0.1] * 80, cluster=HETEROGENEOUS)],
        ["unlike_work", "few_launches", "price"],
    ),
    "two accelerators of one declared time": (
        on(P3, G5),
        ["unlike_accelerators", *FEW],
    ),
    "one accelerator": (
        on(P3, "same@a=ml.p3.8xlarge"),
        ["few_launches", "few_steps", "price", "price"],
    ),
    "two accelerators, measured": (
        on(P3, G5, emulation=None),
        [*FEW],
    ),
    "this machine, twice": (
        on("here=local", "b@b=local"),
        ["few_launches", "few_steps"],
    ),
    "a trainer that its own passes hold up": (
        held_up(0.01),
        ["long_passes", "few_launches", "few_steps", "price"],
    ),
    "a script that takes its time between steps": (
        [run_records([0.04] * 40, emulation=EMULATION, device_time_s=0.04, between_s=0.01)],
        ["between_steps", "few_launches", "price"],
    ),
    "a script that takes little between steps": (
        [run_records([0.04] * 40, emulation=EMULATION, device_time_s=0.04, between_s=0.003)],
        ["few_launches", "price"],
    ),
    "a script that takes its time between steps that nothing slows down": (
        [run_records([0.04] * 40, between_s=0.01)],
        ["few_launches", "price"],
    ),
    "a trainer that its device holds up": (
        held_up(0.08),
        ["few_launches", "few_steps", "price"],
    ),
    "two accelerators with a declared time each": (
        [
            run_records(cluster=cluster, emulation=Emulation(device_step_time_s=device_s))
            for cluster, device_s in ((P3, 0.04), (G5, 0.02))
        ],
        ["unlike_devices", *FEW],
    ),
}


def test_what_a_reader_must_know_is_told(golden_texts: GoldenTexts) -> None:
    kinds, told = {}, {}
    for situation, (runs, _) in SITUATIONS.items():
        findings = comparison(runs).findings
        kinds[situation] = [each.kind for each in findings]
        for each in findings:
            told.setdefault(each.text, f"{situation}: {each.kind}")

    assert kinds == {situation: expected for situation, (_, expected) in SITUATIONS.items()}
    golden_texts(
        "cautions", {f"{n}. {why}": text for n, (text, why) in enumerate(told.items())}
    )


def test_two_declared_times_of_devices_are_both_told() -> None:
    runs, _ = SITUATIONS["two accelerators with a declared time each"]

    result = comparison(runs)

    assert scale_line(result).endswith("declared device time 20 ms to 40 ms per step")


def test_prices_that_are_not_list_prices_are_told_with_their_date(
    golden_texts: GoldenTexts,
) -> None:
    catalog = Catalog.load().with_prices(PUBLISHED_2022_PRICES)

    findings = comparison([run_records(cluster=each) for each in PRICED], catalog).findings

    prices = [each.text for each in findings if each.kind == "price"]
    assert len(prices) == 3
    golden_texts("cautions", {str(n): text for n, text in enumerate(prices, 1)})


def test_unlike_shares_stand_in_the_verdict() -> None:
    result = comparison(starved())

    (told,) = [each.text for each in result.findings if each.kind == "unlike_delivered"]
    assert result.verdict.endswith(told)
    assert result.pairs[0].verdict.endswith(told)


def test_a_mix_of_emulated_and_measured_runs_is_emulated() -> None:
    assert comparison(another()).evidence == "emulated"


def test_costs_of_jobs_with_unlike_work_are_not_compared() -> None:
    runs = [run_records([0.2] * 40), run_records([0.1] * 80, cluster=HETEROGENEOUS)]

    assert comparison(runs).pairs[0].saving_per_job_fraction is None


def test_steps_that_train_other_numbers_of_samples_are_compared_by_the_sample(
    golden_texts: GoldenTexts,
) -> None:
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

    (told,) = [each.text for each in result.findings if each.kind == UNLIKE_SAMPLES]
    assert result.verdict.count(told) == result.pairs[0].verdict.count(told) == 1
    pair = result.pairs[0]
    assert pair.times_the_samples == pytest.approx(2)
    # twice the price, twice the samples
    assert pair.saving_fraction is not None
    assert pair.saving_fraction.low < -1 < pair.saving_fraction.high
    golden_texts(
        "cautions",
        {
            "verdict": result.verdict,
            "headline": headline(result),
            "sentence": saving_sentences(result)[0],
        },
    )
    speedup, saving = (
        next(row.cells[1] for row in comparison_rows(result) if row.label == label)
        for label in ("speed-up", "saving per step")
    )
    assert (speedup[1], saving[1:]) == (
        "samples a second",
        ("per sample", "no difference seen"),
    )


def test_failed_runs_are_left_out_and_told() -> None:
    runs = interleaved_runs()
    runs[3] = run_records([5.0] * 40, cluster=HETEROGENEOUS, job_name="het-r2", state="Failed")
    result = comparison(runs)

    assert result.clusters[1].launches == 2
    assert result.clusters[1].step_time_s.mean == pytest.approx(0.1, rel=0.02)
    assert [each.kind for each in result.findings].count("left_out") == 1
