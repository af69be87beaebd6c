from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab as lab
from smtc_lab.cli.spot.forecast import lifetimes_of
from tests.kit.calibrations import calibration

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]

JOB = ("spot", "--hours", "12", "--save", "20", "--restart", "300", "--futures", "200")
MARKET = ("--mean-time-between", "7200", "--variation", "2", "--mean-wait", "3600")
PRICE = ("--instance-type", "ml.p3.2xlarge", "--spot-price", "1.3")


def test_a_forecast_is_printed_and_written(smtc_lab: SmtcLab, home: Path) -> None:
    said = smtc_lab(
        *JOB, *MARKET, *PRICE, "--within-hours", "15", "--json", home / "forecast.json"
    )

    assert said.exit_code == 0, said.err
    assert said.err == ""
    made = lab.SpotForecast.from_json((home / "forecast.json").read_bytes())
    assert str(made) in said.out
    assert made.deadline_s == 15 * 3600
    assert made == lab.spot_forecast(
        12 * 3600.0,
        save_s=20.0,
        restart_s=300.0,
        lifetimes={"mean_time_between_s": 7200.0, "variation": 2.0, "mean_wait_s": 3600.0},
        deadline_s=15 * 3600.0,
        instance_type="ml.p3.2xlarge",
        spot_usd_per_hour=1.3,
        futures=200,
    )


def test_a_run_tells_its_times_and_others_are_laid_beside(
    smtc_lab: SmtcLab, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, object]] = []
    given: list[dict[str, Any]] = []
    made = lab.spot_forecast(
        3600.0, save_s=2.0, restart_s=3.0, lifetimes=7200.0, spot_usd_per_hour=1.0, futures=100,
        on_demand_usd_per_hour=4.0,
    )  # fmt: skip

    def forecast(work: object, **values: Any) -> lab.SpotForecast:
        given.append({"work": work, **values})
        return made

    def open_run(name: str, *, root: object = None) -> str:
        opened.append((name, root))
        return name

    monkeypatch.setattr("smtc_lab.launchers.run.Run.open", open_run)
    monkeypatch.setattr("smtc_lab.planner.spot.forecast.spot_forecast", forecast)
    monkeypatch.setattr(lab.SpotForecast, "with_measured", lambda self, *_: self)

    said = smtc_lab(
        *("spot", "--run", "digits-1", "--measured", "one", "--measured", "two", *MARKET),
        *("--save-every", "own", "--runs-dir", home, *PRICE),
    )

    assert said.exit_code == 0, said.err
    assert [name for name, _ in opened] == ["digits-1", "one", "two"]
    assert {root for _, root in opened} == {home}
    (values,) = given
    assert (values["work"], values["save_s"], values["restart_s"]) == ("digits-1", None, None)
    assert values["save_every_s"] == "own"


def test_the_market_of_a_run_counts_with_its_time_scale() -> None:
    market = lab.Market(mean_time_between_s=7200, variation=2, time_scale=240)
    job = lab.TrainingJob(
        entry_point="train.py",
        cluster=lab.Cluster.parse("a=local:1"),
        use_spot_instances=True,
        market=market,
    )
    run = SimpleNamespace(job=job)
    given = {"trace": None, "mean_time_between": None, "variation": None, "mean_wait": None}

    assert lifetimes_of(given, run) == market
    shorter = lifetimes_of({**given, "mean_time_between": 60.0}, run)
    assert (shorter.mean_time_between_s, shorter.variation) == (60.0, 2.0)
    assert shorter.time_scale == 240
    traced = lifetimes_of({**given, "trace": "t.json"}, run)
    assert (traced.trace, traced.mean_time_between_s) == ("t.json", None)
    assert lifetimes_of({**given, "mean_time_between": 60.0}, 3600.0) == {
        "mean_time_between_s": 60.0
    }


def test_a_refusal_names_options(smtc_lab: SmtcLab) -> None:
    said = smtc_lab(*JOB, "--mean-time-between", "7200", "--spot-price", "1.3")

    assert said.exit_code != 0
    assert "Give --on-demand-price, or --instance-type." in said.err


def test_a_trace_and_a_table_of_prices_are_read(smtc_lab: SmtcLab, home: Path) -> None:
    (home / "trace.json").write_text(
        json.dumps({"metadata": {"gap_seconds": 600}, "data": [2, 2, 2, 1, 2, 2, 0]})
    )
    (home / "prices.csv").write_text(
        "type,region,az,spot,on_demand,date\nml.p3.2xlarge,us-east-1,us-east-1a,1,4,2026-11-20\n"
    )

    said = smtc_lab(
        *(*JOB, "--trace", home / "trace.json", "--prices", home / "prices.csv"),
        *("--instance-type", "ml.p3.2xlarge", "--instances", "2", "--save-every", "300"),
    )

    assert said.exit_code == 0, said.err
    assert "Spot $2 an hour (us-east-1a, 2026-11-20), on-demand $8 (2026-11-20)." in said.out
    assert "as in trace.json of 70 min" in said.out
    assert "uniform progress" not in said.out


def test_work_start_up_and_instances_are_those_of_a_plan(smtc_lab: SmtcLab, home: Path) -> None:
    plan = lab.plan(calibration(), steps=1_000_000, families=["p3"], max_data_instances=0)
    (home / "plan.json").write_text(plan.to_json())

    said = smtc_lab(
        *("spot", "--plan", home / "plan.json", "--cluster", "t=ml.p3.2xlarge", "--save", "5"),
        *(
            "--mean-time-between",
            "7200",
            "--spot-price",
            "1.3",
            "--json",
            home / "forecast.json",
        ),
    )

    assert said.exit_code == 0, said.err
    made = lab.SpotForecast.from_json((home / "forecast.json").read_bytes())
    planned = plan.cluster("t=ml.p3.2xlarge")
    assert made.work_s == pytest.approx(1_000_000 * planned.prediction.step_time_s.mean)
    assert made.restart_s == calibration().startup_s.mean  # type: ignore[union-attr]
    assert made.instances == (("ml.p3.2xlarge", 1),)
