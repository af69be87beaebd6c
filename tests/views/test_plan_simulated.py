from __future__ import annotations

from smtc_lab.planner.plan import plan
from smtc_lab.testing.calibrations import calibration
from smtc_lab.views.plan_simulated import simulated_chart


def test_a_simulated_run_is_charted_as_predicted() -> None:
    run = plan(calibration(), families=["p3"]).best.simulate(steps=30)

    chart = simulated_chart(run)

    assert chart.num_rows == 30
    assert {series["evidence"] for series in chart.series} == {"predicted"}
    chart.close()
