"""AWS's two published comparisons, each predicted from its homogeneous row.

What is used beside that row is said at each calibration; nothing of it is of the heterogeneous
run. Speeds of CPUs are the catalog's, p is the default.

Source:
    AWS Machine Learning blog, "Improve price performance of your model training using Amazon
    SageMaker heterogeneous clusters", 2022-10-27; aws/amazon-sagemaker-examples,
    training/heterogeneous-clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import PUBLISHED_2022_PRICES, Catalog
from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.metrics.cost import usd_per_step
from smtc_lab.metrics.result import Interval
from smtc_lab.planner.calibration.parts import CpuSpeedFact, DevicePoint
from smtc_lab.planner.model.sharpness import BARRIER_P
from smtc_lab.planner.plan import Plan, plan
from tests.kit.calibrations import PATHS, calibration, measured, worker_point

if TYPE_CHECKING:
    from smtc_lab.planner.calibration.calibration import Calibration

CATALOG = Catalog.load().with_prices(PUBLISHED_2022_PRICES)
TENSORFLOW_S, PYTORCH_S = (0.192, 0.086), (1.193, 0.184)
UNKNOWN_S = 0.001
DRAINED_S = 0.1215
"""Step time of the last 20 steps in the published log of the heterogeneous PyTorch run, whose
data workers had finished: what device and host took there. From differences of the log's
cumulative mean."""


def on(instance_type: str, *, cores: float, core_s: float, **fields: object) -> Calibration:
    speed = relative_cpu_speed(instance_type, {}).value
    return calibration(
        emulated_device_s=None,
        worker_points=tuple(worker_point(core_s, cores=cores, path=path) for path in PATHS),
        cpu_speed=CpuSpeedFact(value=speed, kind="estimated", of=instance_type),
        **fields,
    )


def tensorflow_plan() -> Plan:
    """Batch 1,024 on each of 8 GPUs and 12,288 bytes a sample, from the notebook; GPU
    utilization of the homogeneous row, 45 %, as device time."""
    device_s = 0.45 * TENSORFLOW_S[0]
    cpu_s = (TENSORFLOW_S[0] ** BARRIER_P - device_s**BARRIER_P) ** (1 / BARRIER_P)
    found = on(
        "ml.p4d.24xlarge",
        cores=96.0,
        core_s=cpu_s * 96 / 8192,
        machine={"cores": 96.0, "gpus": ["NVIDIA A100-SXM4-40GB"]},
        batch_size=1024,
        device_points=(DevicePoint(batch_size=1024, step_s=measured(device_s)),),
        bytes_per_sample=12_288.0,
    )
    return plan(found, catalog=CATALOG, num_devices=8, families=["p4d", "c5"], steps=5000)


def pytorch_plan(rest_s: float = UNKNOWN_S) -> Plan:
    """Batch 8,192 of 3,137 bytes a sample and 8 data workers, from the notebook. ``rest_s`` is
    what device and host take: not published of the homogeneous run, which they do not bound,
    so next to nothing is taken. The trainer's thread is busy as long, so its share of the 8
    vCPUs is not the data workers'."""
    found = on(
        "ml.p3.2xlarge",
        cores=8.0,
        core_s=(PYTORCH_S[0] * 8 - rest_s) / 8192,
        machine={"cores": 8.0, "gpus": ["Tesla V100-SXM2-16GB"]},
        batch_size=8192,
        device_points=(
            DevicePoint(
                batch_size=8192, step_s=measured(rest_s), cpu_s_per_step=measured(rest_s)
            ),
        ),
        bytes_per_sample=3137.0,
    )
    return plan(found, catalog=CATALOG, families=["p3", "c5"], steps=5000)


def test_the_tensorflow_table_follows_from_its_homogeneous_row() -> None:
    made = tensorflow_plan()
    alone = made.cluster("dnn=ml.p4d.24xlarge:1").prediction
    fed = made.cluster("dnn=ml.p4d.24xlarge:1,data=ml.c5.18xlarge:2").prediction

    assert alone.step_time_s.value == pytest.approx(TENSORFLOW_S[0], rel=0.01)
    assert alone.bottleneck == "cpu"
    assert fed.step_time_s.value == pytest.approx(TENSORFLOW_S[1], rel=0.03)
    assert fed.usd_per_hour == pytest.approx(37.688 + 2 * 3.672)


@pytest.mark.parametrize("rest_s", [UNKNOWN_S, DRAINED_S])
def test_the_pytorch_table_follows_with_and_without_a_figure_of_the_heterogeneous_run(
    rest_s: float,
) -> None:
    made = pytorch_plan(rest_s)
    alone = made.cluster("dnn=ml.p3.2xlarge:1", num_loader_workers=8).prediction
    fed = made.cluster(
        "dnn=ml.p3.2xlarge:1,data=ml.c5.9xlarge:1", num_loader_workers=0, num_data_workers=32
    ).prediction

    assert alone.step_time_s.value == pytest.approx(PYTORCH_S[0], rel=0.01)
    # 4 % above what was published without that figure, 3 % with it
    assert fed.step_time_s.value == pytest.approx(PYTORCH_S[1], rel=0.05)
    assert fed.step_time_s.low < PYTORCH_S[1] < fed.step_time_s.high


def test_both_tables_recommend_a_data_group() -> None:
    for made in (tensorflow_plan(), pytorch_plan()):
        assert made.best.candidate.is_heterogeneous


@pytest.mark.parametrize(
    ("cluster_usd", "step_s", "cents"),
    [
        (37.688, TENSORFLOW_S[0], 0.2010),
        (37.688 + 2 * 3.672, TENSORFLOW_S[1], 0.1076),
        (3.825, PYTORCH_S[0], 0.1268),
        (3.825 + 1.836, PYTORCH_S[1], 0.0289),
    ],
)
def test_what_was_published_with_a_dollar_sign_are_cents(
    cluster_usd: float, step_s: float, cents: float
) -> None:
    step_time_s = Interval(mean=step_s, low=step_s, high=step_s)

    usd = usd_per_step(step_time_s=step_time_s, usd_per_hour=cluster_usd)

    assert usd is not None
    assert 100 * usd.mean == pytest.approx(cents, abs=5e-5)
