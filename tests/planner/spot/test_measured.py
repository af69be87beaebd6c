"""A run's own times make a forecast, and a run under a market is laid beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import PlannerError
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.metrics.records.saves import save_words, saves_of
from smtc_lab.planner.spot.forecast import spot_forecast
from smtc_lab.planner.spot.of_run import times_of
from smtc_lab.planner.spot.result import SpotForecast
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.spot import Market
from smtc_lab.store.steps.columns import StepColumns
from smtc_lab.views.figures.spot import write_spot_figure
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

SCALE = 600.0
STEPS, STEP_S, EVERY = 40, 0.05, 4
SCRIPT = """
import torch
import smtc_lab

session = smtc_lab.Session()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
model, optimizer = session.prepare(model, optimizer)
data = torch.utils.data.TensorDataset(torch.randn(160, 4))
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
session.checkpoint(model=model, optimizer=optimizer, every_steps=4)
for (batch,) in session.steps(loader):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.timeout(180)
def test_a_run_that_was_interrupted_tells_its_times_and_is_drawn_over_the_forecast(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run], tmp_path: Path
) -> None:
    market = Market(mean_time_between_s=1e8, variation=1.0, time_scale=SCALE)
    job = make_job(
        SCRIPT,
        cluster="trainers=local:1",
        use_spot_instances=True,
        market=market,
        emulation=Emulation(device_step_time_s=STEP_S),
    )
    run = start(job)
    columns = StepColumns([run.folder.rank_records("algo-1", 0)])
    wait_until(lambda: columns.count() >= 10, what="10 steps", limit_s=60.0)
    with pytest.raises(PlannerError, match=r"has not both a first step and its end"):
        times_of(run)
    run.interrupt()
    run.wait(60)

    times = times_of(run)
    whole_s = STEPS * STEP_S
    assert whole_s <= times.work_s
    assert times.save_every_s == pytest.approx(EVERY * times.work_s / STEPS, rel=0.5)
    assert times.instances == ((None, 1),)
    prices = {"spot_usd_per_hour": 1.0, "on_demand_usd_per_hour": 4.0}
    made = spot_forecast(run, lifetimes=market, save_every_s="own", **prices)
    assert made.work_s == pytest.approx(SCALE * times.work_s)
    assert made.restart_s == pytest.approx(SCALE * times.restart_s)
    assert made.save_s == pytest.approx(SCALE * (times.save_s or math.nan))
    assert made.policies[1].save_every_s == pytest.approx(SCALE * (times.save_every_s or 0))
    assert spot_forecast(job, save_every_s="own", root=run.folder.path.parent, **prices) == made
    other = job.model_copy(update={"arguments": ("--lr", "0.1")})
    with pytest.raises(
        PlannerError, match=r"No run of .* arguments and max_steps is completed"
    ):
        spot_forecast(other, root=run.folder.path.parent, **prices)
    with pytest.raises(PlannerError, match=r"lifetimes is not given"):
        spot_forecast(run, **prices)
    given = spot_forecast(run, lifetimes=9e4, save_s=2.0, restart_s=3.0, **prices)
    assert (given.work_s, given.save_s, given.restart_s) == (times.work_s, 2.0, 3.0)

    beside = made.with_measured(run)
    (measured,) = beside.measured
    state, bill = run.state, run.bill
    assert measured.interruptions == 1
    assert measured.evidence == "emulated"
    assert measured.finish_s == pytest.approx(
        SCALE * ((state.ended_s or 0) - (state.started_s or 0))
    )
    assert measured.usd == pytest.approx(SCALE * (bill.billed_s or 0) / 3600)
    assert measured.lost_s == pytest.approx(SCALE * (bill.interruptions_s or 0))
    assert beside.num_held == 0  # such instances are never taken away
    assert f"measured: {run.job_name}" in str(beside)
    assert "0 of 1 run ended between the 5 and the 95 %; emulated, 600 s" in str(beside)
    assert "url(data:image/png;base64," in beside._repr_html_()
    assert "url(" not in made._repr_html_()
    assert SpotForecast.from_json(beside.to_json()) == beside
    for name in ("one.png", "one.svg"):
        write_spot_figure(beside.with_measured(run), tmp_path / name)
        assert (tmp_path / name).stat().st_size > 10_000


@pytest.mark.timeout(180)
def test_steps_of_an_emulation_are_measured_in_cluster_time_and_all_else_in_its_own(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    slower = 20.0
    market = Market(mean_time_between_s=1e8, time_scale=SCALE)
    job = make_job(
        SCRIPT,
        cluster="trainers=ml.p3.2xlarge:1",
        use_spot_instances=True,
        market=market,
        emulation=Emulation(device_step_time_s=0.01, time_dilation=slower),
    )
    run = start(job)
    columns = StepColumns([run.folder.rank_records("algo-1", 0)])
    wait_until(lambda: columns.count() >= 10, what="10 steps", limit_s=60.0)
    run.interrupt()
    run.wait(100)

    (measured,) = (
        spot_forecast(run, lifetimes=market, spot_usd_per_hour=1.0, on_demand_usd_per_hour=4.0)
        .with_measured(run)
        .measured
    )
    here_s, billed_s = run.state.billed_s or 0.0, measured.billed_s / SCALE
    steps_here_s = STEPS * 0.01 * slower
    assert all(attempt.stepping_s for attempt in run.state.attempts)
    assert here_s - billed_s >= (1 - 1 / slower) * steps_here_s
    assert billed_s >= 2 * times_of(run).restart_s
    assert measured.finish_s == pytest.approx(measured.billed_s + measured.waiting_s)
    assert 0.0 < measured.lost_s < SCALE * (run.bill.interruptions_s or 0.0)


def test_what_an_event_says_of_a_save_is_read_as_it_was_written() -> None:
    events = [
        EventRecord(time_s=float(at), kind=kind, host="algo-1", message=message)
        for at, (kind, message) in enumerate(
            [
                ("checkpoint", save_words(12, 0.001234)),
                ("checkpoint", "Goes on after step 12 of an earlier attempt."),
                ("warning", save_words(13, 0.1)),
                ("checkpoint", save_words(24, 123.456)),
                ("checkpoint", "Step 25 is kept; training waited 1.2.3 ms."),
            ]
        )
    ]

    assert [(save.step, save.stall_s, save.time_s) for save in saves_of(events)] == [
        (12, pytest.approx(0.00123), 0.0),
        (24, pytest.approx(123.0), 3.0),
        (25, 0.0, 4.0),
    ]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"restart_s": 3.0}, r"save_s is not given\. .* or as work a run"),
        ({"save_s": 3.0}, r"restart_s is not given\. .* a cluster of a plan, or a run"),
        (
            {"save_s": 3.0, "restart_s": 3.0, "save_every_s": "own"},
            r"save_every_s='own' is how often a run saved, but no run",
        ),
    ],
)
def test_what_no_run_tells_has_to_be_given(values: dict[str, float], expected: str) -> None:
    with pytest.raises(PlannerError, match=expected):
        spot_forecast(3600.0, lifetimes=3600.0, spot_usd_per_hour=1.0, **values)  # type: ignore[arg-type]
