"""Builders of what a plan shows: clusters to make up, without a calibration."""

from __future__ import annotations

from smtc_lab.metrics.result import Interval
from smtc_lab.planner import intervals
from smtc_lab.views.plan.info import MeasuredInfo, PlanInfo, PointInfo
from smtc_lab.views.text.format import TIMES


def estimate(value: float, *, spread: float = 0.06) -> Interval:
    """Return an estimate whose interval reaches so far, as a share of it."""
    return intervals.estimate(value, value * (1 - spread), value * (1 + spread))


def example_point(  # noqa: PLR0913  options by name, all with a default but two
    label: str,
    *,
    step_s: float,
    usd_per_hour: float | None,
    names: tuple[str, ...] = (),
    is_pareto: bool = True,
    cpu_s: float | None = None,
    device_s: float = 0.09,
) -> PointInfo:
    """Return one cluster; ``cpu_s`` above ``device_s`` makes it CPU-bound."""
    cpu_s = step_s if cpu_s is None else cpu_s
    per_1000 = None if usd_per_hour is None else estimate(usd_per_hour * step_s / 3.6)
    per_job = None if usd_per_hour is None else estimate(usd_per_hour * step_s * 5000 / 3600)
    return PointInfo(
        label=label,
        is_heterogeneous="+" in label,
        names=names,
        is_pareto=is_pareto,
        evidence="extrapolated" if "p4d" in label else "predicted",
        step_time_s=estimate(step_s),
        usd_per_hour=usd_per_hour,
        usd_per_1000_steps=per_1000,
        job_s=estimate(step_s * 5000 + 60),
        usd_per_job=per_job,
        bottleneck="cpu" if cpu_s >= device_s else "device",
        is_near_tie=abs(cpu_s - device_s) < 0.1 * max(cpu_s, device_s),
        stages_s={"cpu": cpu_s, "network": 0.03, "serial": 0.012, "device": device_s},
        utilization={
            "cpu": min(1.0, cpu_s / step_s),
            "network": 0.03 / step_s,
            "serial": 0.012 / step_s,
            "device": device_s / step_s,
        },
        price="" if usd_per_hour is None else "historical 2022-10-27",
        is_price_old=usd_per_hour is not None,
        notes=("The price of this type is unknown.",) if usd_per_hour is None else (),
        explanation="CPU-bound: 8 vCPUs feed 15 % of the device." if names else "",
        code="import smtc_lab as lab\n\njob = lab.TrainingJob()\n" if names else "",
    )


def example_plan(*, measured: bool = True) -> PlanInfo:
    """Return a plan with some clusters, one of unknown price, and a run beside it."""
    p3, c5 = f"1 {TIMES} ml.p3.2xlarge", f"{TIMES} ml.c5.9xlarge"
    points = [
        example_point(
            f"{p3} + 3 {c5}",
            step_s=0.094,
            usd_per_hour=9.333,
            names=("fastest",),
            cpu_s=0.045,
        ),
        example_point(
            f"{p3} + 2 {c5}",
            step_s=0.104,
            usd_per_hour=7.497,
            names=("best", "knee"),
            cpu_s=0.085,
        ),
        example_point(f"{p3} + 1 {c5}", step_s=0.13, usd_per_hour=5.661, names=("cheapest",)),
        example_point(
            f"1 {TIMES} ml.p4d.24xlarge", step_s=0.12, usd_per_hour=25.2513, is_pareto=False
        ),
        example_point(
            f"1 {TIMES} ml.p3.8xlarge", step_s=0.21, usd_per_hour=None, is_pareto=False
        ),
        example_point(p3, step_s=0.62, usd_per_hour=3.825, is_pareto=False),
    ]
    run = MeasuredInfo(
        label=f"{p3} + 2 {c5}",
        job_name="train-images-1",
        is_heterogeneous=True,
        has_ended=True,
        evidence="emulated",
        step_time_s=_emulated(0.109),
        predicted_s=estimate(0.104),
        error_fraction=0.104 / 0.109 - 1,
        usd_per_1000_steps=_emulated(0.109 * 7.497 / 3.6),
    )
    return PlanInfo(
        entry_point="train_images.py",
        steps=5000,
        sentence=f"{p3} + 2 {c5}: 0.104 s a step, $0.217 per 1,000 steps.",
        limits="At most $60/h, 5,000 steps.",
        budget_usd_per_hour=60.0,
        budget_usd=None,
        deadline_s=None,
        basis="Calibrated 2026-11-22 on 2 cores of an Intel Xeon.",
        points=tuple(sorted(points, key=lambda point: point.step_time_s.mean)),
        num_candidates=231,
        measured=(run,) if measured else (),
        notes=("12 types were refused: their accelerator was not measured.",),
    )


def _emulated(mean: float) -> Interval:
    return Interval(mean=mean, low=mean * 0.98, high=mean * 1.02, evidence="emulated")
