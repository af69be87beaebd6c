"""A plan beside a comparison of the same clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.planner.plan import plan
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.views.plan.beside import beside
from tests.kit.calibrations import PATHS, calibration, worker_point
from tests.kit.records import HETEROGENEOUS, HOMOGENEOUS, jittered, run_records

if TYPE_CHECKING:
    from smtc_lab.planner.plan import Plan
    from tests.kit.golden_texts import GoldenTexts

ALONE, FED = Cluster.parse(HOMOGENEOUS), Cluster.parse(HETEROGENEOUS)
TWO = Cluster.parse("two@dnn_group=ml.p3.2xlarge:2")
EMULATION = Emulation(time_dilation=20.0, cores_per_vcpu=0.045, device_step_time_s=0.01)


def planned(cpu_s_per_sample: float) -> Plan:
    points = tuple(worker_point(cpu_s_per_sample, path=path) for path in PATHS)
    return plan(calibration(worker_points=points), families=["p3", "c5"])


def beside_of(
    alone_s: float,
    other_s: float,
    *,
    cpu_s_per_sample: float,
    other: Cluster = FED,
    trainers: int = 1,
) -> str:
    runs = [
        run_records(
            jittered(mean_s * (1 + drift * (number - 1)), seed=number),
            cluster=cluster,
            emulation=EMULATION,
            device_time_s=0.01,
            num_samples=32 if cluster is ALONE else 32 * trainers,
            job_name=f"train-{cluster.label}-r{number + 1}",
        )
        for number in range(3)
        for cluster, mean_s, drift in ((ALONE, alone_s, 0.01), (other, other_s, -0.01))
    ]
    created = "2026-11-28T10:15:00+00:00"
    comparison = compare_runs(runs, catalog=Catalog.load(), created=created, machine={})
    return beside(planned(cpu_s_per_sample), comparison, [ALONE, other])


def test_a_plan_and_a_comparison_say_whether_they_agree(golden_texts: GoldenTexts) -> None:
    golden_texts(
        "plan",
        {
            "both for the data group": beside_of(0.06, 0.01, cpu_s_per_sample=0.004),
            "both against it": beside_of(0.01, 0.01, cpu_s_per_sample=0.0001),
            "one for it and one against": beside_of(0.06, 0.01, cpu_s_per_sample=0.0001),
            "no contradiction": beside_of(0.0148, 0.01, cpu_s_per_sample=0.004),
            "per sample where steps are of more samples": beside_of(
                0.01, 0.011, cpu_s_per_sample=0.0001, other=TWO, trainers=2
            ),
            "slower by the comparison alone": beside_of(0.05, 0.06, cpu_s_per_sample=0.004),
        },
    )
