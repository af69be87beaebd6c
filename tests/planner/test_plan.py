"""Plans: the search, its limits, what is left out and why, and plans as files."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.instance_types import Price, is_old
from smtc_lab.errors import CatalogError, PlannerError
from smtc_lab.planner.calibration.parts import DevicePoint
from smtc_lab.planner.interruptions import Interruptions
from smtc_lab.planner.plan import Plan, plan
from smtc_lab.spec.cluster import Cluster
from tests.kit.calibrations import calibration, measured, worker_point

if TYPE_CHECKING:
    from smtc_lab.planner.model.prediction import Candidate
    from tests.kit.golden_texts import GoldenTexts

FAMILIES = ["p3", "g5", "c5"]
HEAVY = {"worker_points": tuple(worker_point(0.02, path=p) for p in ("in_process", "service"))}


def planned(fields: dict[str, Any] | None = None, **limits: Any) -> Plan:
    return plan(calibration(**(HEAVY | (fields or {}))), **{"families": FAMILIES, **limits})


def figures(candidate: Candidate) -> tuple[float, float]:
    usd = candidate.prediction.usd_per_1000_steps
    assert usd is not None
    return candidate.prediction.step_time_s.value, usd.value


def test_a_cpu_bound_workload_is_given_a_data_group() -> None:
    made = planned()

    assert made.best.candidate.is_heterogeneous
    assert made.best.prediction.usd_per_1000_steps is not None
    alone = [each for each in made.candidates if not each.is_heterogeneous]
    assert all(figures(made.cheapest)[1] <= figures(each)[1] for each in alone)


@pytest.mark.parametrize("device_s", [0.5, 5.0])
def test_a_device_bound_workload_is_never_given_a_data_group(device_s: float) -> None:
    points = (DevicePoint(batch_size=100, step_s=measured(device_s)),)
    fields: dict[str, Any] = {
        "emulated_device_s": device_s,
        "device_points": points,
        "worker_points": tuple(
            worker_point(0.0001, path=path) for path in ("in_process", "service")
        ),
    }

    made = plan(calibration(**fields))

    assert not any(each.is_heterogeneous for each in made.candidates)
    assert made.best.prediction.bottleneck == "device"


@pytest.mark.parametrize(("workers", "who"), [(None, "16 vCPUs"), (2, "Its 2 data workers")])
def test_what_could_feed_more_is_what_would_limit(workers: int | None, who: str) -> None:
    made = planned({"emulated_device_s": 2.0, "script_num_workers": workers})

    said = made.cluster(Cluster.parse("train=ml.g5.4xlarge:1")).explain()

    assert f"{who} could feed " in said
    assert ", so a data group would only add cost." in said


def test_trainers_that_prepare_samples_themselves_could_not_feed_more_meanwhile() -> None:
    made = planned({"emulated_device_s": 2.0, "script_num_workers": 0})

    said = made.cluster(Cluster.parse("train=ml.g5.4xlarge:1")).explain()

    assert "Device-bound" in said
    assert "could feed" not in said


def test_every_type_is_tried_or_counted_with_the_reason_why_not() -> None:
    made = plan(calibration(**HEAVY), max_data_instances=0)

    assert made.num_fitting + sum(
        count for reason, count in made.refused.items() if not reason.startswith("data groups")
    ) == len(Catalog.load().names())


def test_the_front_names_the_fastest_the_cheapest_and_the_knee() -> None:
    made = planned()
    front = [figures(each) for each in made.pareto]

    assert front == sorted(front)
    assert [usd for _, usd in front] == sorted((usd for _, usd in front), reverse=True)
    assert (made.fastest, made.cheapest) == (made.pareto[0], made.pareto[-1])
    assert made.knee in made.pareto


def test_no_kept_candidate_beats_the_front_by_more_than_a_percent() -> None:
    made = planned()
    front = np.array([figures(each) for each in made.pareto])

    for each in made.candidates:
        time, cost = figures(each)
        assert any((front[:, 0] <= time * 1.0102) & (front[:, 1] <= cost * (1 + 1e-9)))


def test_candidates_keep_the_limit_per_hour() -> None:
    made = planned(budget_usd_per_hour=5.0)

    assert all((each.prediction.usd_per_hour or 0) <= 5.0 for each in made.candidates)
    assert made.refused["beyond budget_usd_per_hour=5"] > 0


def test_limits_of_the_whole_job_count_its_start_up() -> None:
    free = planned(steps=1000)
    fastest = min(each.prediction.job_s.value for each in free.candidates)  # type: ignore[union-attr]

    made = planned(steps=1000, deadline_s=1.2 * fastest, budget_usd=5.0)

    assert fastest > 60.0
    for each in made.candidates:
        assert each.prediction.job_s is not None
        assert each.prediction.usd_per_job is not None
        assert each.prediction.job_s.value <= 1.2 * fastest
        assert each.prediction.usd_per_job.value <= 5.0


def test_a_job_is_its_start_up_its_steps_and_its_end(golden_texts: GoldenTexts) -> None:
    calibrated = calibration(compile_s=measured(8.0), end_s=measured(3.0))
    made = plan(calibrated, steps=1000, families=["p3"])
    said = made.cluster("t=ml.p3.2xlarge").prediction

    assert said.parts is not None
    assert said.parts.end_s is not None
    assert said.parts.startup_s.mean == 60.0
    assert said.parts.steps_s.mean == pytest.approx(1000 * said.step_time_s.mean + 8.0)
    assert said.parts.end_s.mean == 3.0
    assert said.job_s is not None
    assert said.job_s.mean == pytest.approx(71.0 + 1000 * said.step_time_s.mean)
    assert said.job_s.high == pytest.approx(
        said.parts.startup_s.high + said.parts.steps_s.high + said.parts.end_s.high
    )
    assert said.usd_per_job is not None
    assert said.parts.startup_usd is not None
    assert said.parts.steps_usd is not None
    assert said.parts.end_usd is not None
    assert said.usd_per_job.mean == pytest.approx(
        said.parts.startup_usd.mean + said.parts.steps_usd.mean + said.parts.end_usd.mean
    )
    simulated_s = made.cluster("t=ml.p3.2xlarge").simulate_job_s()
    assert simulated_s == pytest.approx(said.job_s.mean)
    golden_texts("plan", {"a job": made.cluster("t=ml.p3.2xlarge").explain()})


def test_a_calibration_without_an_end_says_that_jobs_have_none() -> None:
    said = planned(steps=1000).cluster("t=ml.p3.2xlarge").prediction

    assert said.parts is not None
    assert said.parts.end_s is said.parts.end_usd is None
    assert any(each.startswith("The end of a job is unknown") for each in said.unknown)
    assert not any("end" in each for each in planned().best.prediction.unknown)


def test_an_impossible_budget_says_what_was_left_out() -> None:
    with pytest.raises(PlannerError, match=r"No cluster.*budget_usd_per_hour=0.01.*Raise"):
        planned(budget_usd_per_hour=0.01)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (
            {"budget_usd_per_hour": -1.0},
            "budget_usd_per_hour=-1.0 must be a finite number",
        ),
        ({"budget_usd": 5.0}, "limit of the whole job, but steps is not given"),
        ({"deadline_s": float("nan"), "steps": 5}, "deadline_s=nan must be"),
        ({"steps": 0}, "steps=0 must be at least 1"),
        ({"steps": "many"}, "steps='many' does not fit"),
        ({"families": ["c9"]}, "families has 'c9', which no instance type has"),
        ({"max_data_instances": -1}, "max_data_instances=-1 is not 0 to 1,000"),
        ({"device_s": {"p3": 0.0}}, "must be finite seconds per step above 0"),
        ({"prices": "cheap"}, "prices='cheap' is neither"),
    ],
)
def test_a_limit_that_cannot_be_is_refused(limits: dict[str, Any], message: str) -> None:
    with pytest.raises(PlannerError, match=message):
        planned(**limits)


def test_a_price_of_an_unknown_type_is_refused() -> None:
    with pytest.raises(CatalogError, match=r"Did you mean ml\.p3\.2xlarge"):
        planned(prices={"ml.p3.2xlage": 1.0})


def test_spot_prices_are_the_users() -> None:
    made = planned(prices={"ml.p3.2xlarge": 0.4, "ml.c5.9xlarge": (0.7, "2026-11-01")})
    group = made.cluster("dnn=ml.p3.2xlarge:1,data=ml.c5.9xlarge:2").candidate

    assert group.prediction.usd_per_hour == pytest.approx(0.4 + 2 * 0.7)
    assert (group.price_kind, group.price_date) == ("user", "2026-11-01")


def test_each_data_instance_costs_its_price() -> None:
    made = planned()
    usd = [
        made.cluster(f"t=ml.p3.2xlarge,d=ml.c5.9xlarge:{count}").prediction.usd_per_hour or 0
        for count in (1, 2, 3)
    ]

    assert np.diff(usd) == pytest.approx(Catalog.load().get("ml.c5.9xlarge").price.usd_per_hour)  # type: ignore[union-attr]


def test_what_costs_nothing_can_be_planned() -> None:
    made = planned(prices={"ml.p3.2xlarge": 0.0})

    assert made.cheapest.prediction.usd_per_hour == 0.0
    assert made.knee == made.cheapest


def test_interruptions_lengthen_the_job() -> None:
    often = Interruptions(mean_time_between_s=3600.0, checkpoint_s=18.0, restart_s=180.0)

    calm = planned(steps=1000).cluster("t=ml.p3.2xlarge").prediction.job_s
    stormy = (
        planned(steps=1000, interruptions=often).cluster("t=ml.p3.2xlarge").prediction.job_s
    )

    assert calm is not None
    assert stormy is not None
    assert often.useful_fraction == pytest.approx(0.86, abs=0.001)
    assert stormy.value - 60 == pytest.approx((calm.value - 60) / often.useful_fraction)


def test_waiting_for_spot_instances_takes_time_and_costs_nothing() -> None:
    restarts = Interruptions(mean_time_between_s=3600.0, checkpoint_s=18.0, restart_s=180.0)
    waits = restarts.model_copy(update={"wait_s": 600.0})

    made, waited = (planned(steps=1000, interruptions=how) for how in (restarts, waits))

    before, after = (each.cluster("t=ml.p3.2xlarge").prediction for each in (made, waited))
    assert before.job_s is not None
    assert after.job_s is not None
    assert after.usd_per_job == before.usd_per_job
    assert after.job_s.mean - 60 == pytest.approx((before.job_s.mean - 60) * 4380 / 3780)
    limited = [
        planned(steps=1000, interruptions=how, budget_usd=0.5) for how in (restarts, waits)
    ]
    assert limited[0].num_fitting == limited[1].num_fitting < made.num_fitting


def test_a_type_without_a_price_has_no_cost_and_no_budget() -> None:
    made = plan(calibration(), families=["p5e", "p3"])
    unpriced = made.cluster("t=ml.p5e.48xlarge").candidate

    assert unpriced.prediction.usd_per_hour is None
    assert unpriced.prediction.usd_per_1000_steps is None
    assert unpriced.price_kind is None
    assert "no price" in unpriced.prediction.unknown[0]
    limited = plan(calibration(), families=["p5e", "p3"], budget_usd_per_hour=99.0)
    assert limited.refused["price unknown, so budget_usd_per_hour cannot be kept"] == 1


def test_a_plan_of_types_without_prices_is_of_speed_alone() -> None:
    made = plan(calibration(), families=["p5e"])

    assert made.cheapest == made.fastest


def test_a_cpu_of_unknown_speed_is_left_out_unless_the_user_knows_it() -> None:
    made = plan(calibration(), max_data_instances=0)
    known = plan(calibration(), max_data_instances=0, relative_cpu_speed={"p6e-gb200": 2.0})

    assert made.refused["CPU speed unknown (give relative_cpu_speed)"] == 1
    assert "CPU speed unknown (give relative_cpu_speed)" not in known.refused
    with pytest.raises(PlannerError, match=r"CPU speed of ml\.p6e-gb200\S+ is not known"):
        made.cluster("t=ml.p6e-gb200.36xlarge")


def test_a_type_without_a_network_figure_has_an_unknown_network() -> None:
    known = plan(calibration(**HEAVY), relative_cpu_speed={"p6e-gb200": 2.0})
    said = known.cluster("t=ml.p6e-gb200.36xlarge,d=ml.c5.9xlarge:4").prediction

    assert said.stages_s["network"] is None
    assert "network is unknown" in said.unknown[0]


GPU = {"emulated_device_s": None, "machine": {"cores": 2.0, "gpus": ["Tesla V100-SXM2-16GB"]}}


def test_another_gpu_than_the_calibrated_one_is_unknown_until_its_time_is_given() -> None:
    made = planned(GPU)
    given = planned(GPU, device_s={"NVIDIA A10G": 0.02})

    assert {each.cluster.instance_groups[0].instance_type[:5] for each in made.candidates} == {
        "ml.p3"
    }
    with pytest.raises(PlannerError, match=r"NVIDIA A10G is not the device.*Give device_s"):
        made.cluster("t=ml.g5.xlarge")
    said = given.cluster("t=ml.g5.xlarge").prediction
    assert said.evidence == "extrapolated"
    assert said.stages_s["device"] == pytest.approx(0.02)
    assert given.cluster("t=ml.p3.2xlarge").prediction.evidence == "predicted"


def test_each_kind_of_accelerator_has_its_declared_time_and_others_are_named_as_unknown() -> (
    None
):
    slow = {"emulated_device_s": 0.03}
    made = planned(
        slow,
        device_s="V100=0.03,A100=0.012",
        families=["p3", "p4d", "g5"],
        num_devices=None,
        steps=1000,
    )

    types = {each.cluster.instance_groups[0].instance_type for each in made.candidates}
    assert {name.split(".")[1] for name in types} == {"p3", "p4d"}
    reasons = [each for each in made.refused if "device time" in each]
    assert reasons == ["device time unknown on NVIDIA A10G (device_s, --device-time)"]
    on_v100, on_a100 = (
        made.cluster(f"t={name}") for name in ("ml.p3.2xlarge", "ml.p4d.24xlarge")
    )
    assert on_v100.prediction.evidence == "predicted"  # it is what was calibrated
    assert on_a100.prediction.evidence == "extrapolated"
    devices_s = [each.job().emulation.device_step_time_s for each in (on_v100, on_a100)]
    assert devices_s == [0.03, 0.012]
    assert Plan.from_json(made.to_json()).settings.only_device_s


def test_an_accelerator_that_was_named_for_the_calibration_has_the_only_known_time() -> None:
    named = {"device_times": {"NVIDIA V100": 0.01}}
    made = planned(named)
    more = planned(named, device_s={"g5": 0.02})
    others = planned(named, device_s="A10G=0.02")

    def trainers(of: Plan) -> set[str]:
        return {each.cluster.instance_groups[0].instance_type[3:5] for each in of.candidates}

    assert (trainers(made), trainers(more), trainers(others)) == ({"p3"}, {"p3", "g5"}, {"g5"})
    assert any("NVIDIA A10G" in reason for reason in made.refused)
    assert made.cluster("t=ml.p3.2xlarge").prediction.evidence == "predicted"
    assert Plan.from_json(made.to_json()) == made


def test_all_candidates_have_the_number_of_accelerators_that_was_asked_for() -> None:
    one, eight = planned(GPU), planned(GPU, num_devices=8, max_trainers=8)

    def trainers(made: Plan) -> set[str]:
        return {str(each.cluster.instance_groups[0]) for each in made.candidates}

    assert trainers(one) == {"train_group=ml.p3.2xlarge:1"}
    assert trainers(eight) == {
        "train_group=ml.p3.2xlarge:8",
        "train_group=ml.p3.8xlarge:2",
        "train_group=ml.p3.16xlarge:1",
    }


def test_an_emulated_device_stands_for_all_accelerators_of_an_instance() -> None:
    said = planned().cluster("t=ml.p3.16xlarge").prediction

    assert said.stages_s["device"] == pytest.approx(0.01)
    assert "emulated" in said.cautions[0]


def test_a_workload_that_a_cpu_computes_is_planned_on_cpu_types() -> None:
    made = plan(calibration(emulated_device_s=None), families=["c5"])

    assert made.best.prediction.evidence == "extrapolated"
    assert made.best.candidate.cluster.instance_groups[0].instance_type.startswith("ml.c5.")


def test_burstable_types_are_used_only_when_they_are_named() -> None:
    def families(made: Plan) -> set[str]:
        return {
            group.instance_type.split(".")[1]
            for each in made.candidates
            for group in each.cluster.instance_groups
        }

    assert "t3" not in families(plan(calibration(**HEAVY)))
    named = plan(calibration(**HEAVY), families=["g4dn", "t3"])
    assert "t3" in families(named)
    assert any("Burstable" in said for said in _cautions(named, "ml.t3"))


def _cautions(made: Plan, prefix: str) -> list[str]:
    return [
        caution
        for each in made.candidates
        if any(g.instance_type.startswith(prefix) for g in each.cluster.instance_groups)
        for caution in each.prediction.cautions
    ]


def test_data_groups_need_a_calibration_through_the_data_service() -> None:
    made = planned({"worker_points": (worker_point(0.02),)})

    assert not any(each.is_heterogeneous for each in made.candidates)
    assert made.refused["data groups: not calibrated through the data service"] > 0


def test_a_plan_goes_to_json_and_back() -> None:
    made = planned(steps=1000, budget_usd_per_hour=20.0, prices={"ml.p3.2xlarge": 0.4})

    again = Plan.from_json(made.to_json())

    assert again == made
    assert again.best.explain() == made.best.explain()


def test_a_plan_whose_data_instances_reduce_gradients_is_read_without_that() -> None:
    made = planned({"gradient_bytes": 1e8}, num_devices=None, steps=10_000)
    older = made.to_json(indent=None).replace(
        '"distribution":{', '"distribution":{"reduce_on":"data_group",'
    )
    assert "reduce_on" in older

    assert Plan.from_json(older) == made


def test_a_damaged_plan_says_so() -> None:
    with pytest.raises(PlannerError, match=r"not a plan of schema version 1.*Make it again"):
        Plan.from_json('{"schema_version": 2}')


def test_a_catalog_of_the_user_counts_also_when_the_plan_is_read_again() -> None:
    types = dict(Catalog.load().instance_types)
    price = Price(usd_per_hour=1.5, kind="list", date="2026-11-01")
    types["ml.p3.2xlarge"] = dataclasses.replace(types["ml.p3.2xlarge"], price=price)

    made = planned(catalog=Catalog(MappingProxyType(types)))

    again = Plan.from_json(made.to_json()).cluster("t=ml.p3.2xlarge").prediction
    assert again.usd_per_hour == 1.5


def test_a_cluster_of_three_groups_is_refused() -> None:
    with pytest.raises(PlannerError, match="1 training and 2 data groups"):
        planned().cluster("t=ml.p3.2xlarge,a=ml.c5.2xlarge,b=ml.c5.xlarge")


def test_nothing_is_predicted_of_a_group_that_runs_the_script() -> None:
    with pytest.raises(PlannerError, match=r"group 'b', which runs the script.* Launch it"):
        planned().cluster("t=ml.p3.2xlarge,b=ml.c5.xlarge:1:script")


@pytest.mark.parametrize(
    ("date", "expected"), [("2026-08-01", True), ("2026-09-27", False), ("2026-07", True)]
)
def test_prices_are_old_after_ninety_days(date: str, expected: bool) -> None:  # noqa: FBT001  a parameter of a test
    price = Price(usd_per_hour=1.0, kind="list", date=date)

    assert is_old(price, dt.date(2026, 11, 22)) is expected


def test_a_plan_and_its_calibration_say_themselves_in_a_line() -> None:
    made = plan(calibration())

    assert re.fullmatch(r"<Plan of \d+ clusters; the cheapest is .*, predicted; .*>", str(made))
    assert str(made.calibration).startswith("<Calibration of ")


def test_any_number_of_devices_is_tried_for_a_job_of_so_many_steps_of_one() -> None:
    made = planned({"gradient_bytes": 1e8}, num_devices=None, steps=10_000)

    spread = {each.distribution.data for each in made.candidates if each.distribution}
    assert len(spread) > 3
    many = next(each for each in made.candidates if each.distribution is not None)
    assert many.distribution is not None
    job = made.planned(many).job()
    assert job.max_steps == -(-10_000 // (many.distribution.data or 1))
    assert job.distribution == many.distribution


def test_more_devices_end_a_job_sooner_than_one() -> None:
    made = planned(num_devices=None, steps=100_000)
    one = planned(num_devices=1, steps=100_000)

    assert made.fastest.prediction.job_s is not None
    assert one.fastest.prediction.job_s is not None
    assert made.fastest.prediction.job_s.mean < one.fastest.prediction.job_s.mean


def test_any_number_of_devices_needs_the_steps_of_the_job() -> None:
    with pytest.raises(PlannerError, match=r"num_devices=None .*Give steps="):
        planned(num_devices=None)


def test_the_cheapest_cluster_that_ends_in_time_costs_no_less_than_without_haste() -> None:
    calm = planned(num_devices=None, steps=1_000_000)
    assert calm.cheapest.prediction.job_s is not None
    left = dt.timedelta(seconds=calm.cheapest.prediction.job_s.mean / 2)

    hasty = planned(
        num_devices=None, steps=1_000_000, before=dt.datetime.now(dt.UTC) + left
    ).cheapest.prediction

    assert hasty.job_s is not None
    assert hasty.job_s.mean <= left.total_seconds()
    assert hasty.usd_per_job is not None
    assert calm.cheapest.prediction.usd_per_job is not None
    assert hasty.usd_per_job.mean >= calm.cheapest.prediction.usd_per_job.mean


def test_where_no_cluster_ends_in_time_the_nearest_is_named() -> None:
    soon = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=90)

    with pytest.raises(PlannerError, match=r"The nearest to ending before 20.*: the job takes"):
        planned(num_devices=None, steps=10_000_000, before=soon)


def test_a_moment_that_is_over_is_refused() -> None:
    with pytest.raises(PlannerError, match="is over"):
        planned(steps=10, before=dt.datetime(2020, 1, 1, tzinfo=dt.UTC))


def test_what_ranks_wait_for_is_explained() -> None:
    made = planned({"gradient_bytes": 1e8}, num_devices=None, steps=10_000)
    many = next(each for each in made.candidates if each.distribution is not None)

    assert "devices exchange gradients in" in made.planned(many).explain()


SHARED = {
    "worker_points": tuple(worker_point(1e-6, path=p) for p in ("in_process", "service")),
    "emulated_device_s": None,
    "machine": {"cpu": "a CPU", "cores": 2.0, "gpus": ["Tesla V100"]},
    "device_points": tuple(
        DevicePoint(
            batch_size=size, step_s=measured(0.1 + 0.001 * size), cpu_s_per_step=measured(1e-4)
        )
        for size in (16, 256)
    ),
    "batch_size": 256,
    "hyperparameters": {"batch_size": 256},
}
"""A step of 100 ms and 1 ms for each sample, with nothing to prepare or to exchange."""


def test_devices_that_share_a_step_take_the_time_of_their_part_of_it() -> None:
    made = planned(
        SHARED, mode="strong", num_devices=None, families=["p3"], max_trainers=8, steps=1000
    )

    ranks = {}
    for each in made.candidates:
        count = 1 if each.distribution is None else each.distribution.data or 1
        ranks[count] = each.prediction
    assert {1, 2, 4, 8, 16, 32, 64} <= set(ranks)
    for count, said in ranks.items():
        assert said.step_time_s.mean == pytest.approx(0.1 + 0.256 / count, rel=1e-3)
        assert said.job_s is not None
        assert said.job_s.mean == pytest.approx(60 + 1000 * said.step_time_s.mean, rel=1e-3)


def test_the_cheapest_that_ends_in_time_is_another_where_devices_share_a_step() -> None:
    options = {"num_devices": None, "families": ["p3"], "steps": 10_000, "max_trainers": 1}
    hour = dt.timedelta(seconds=60 + 10_000 * 0.2)
    # one device takes 3,620 s; weak, four of them take a quarter, strong 1,700 s
    ends = {"before": dt.datetime.now(dt.UTC) + hour}

    weak, strong = (
        planned(SHARED, mode=mode, **options, **ends) for mode in ("weak", "strong")
    )

    def devices(made: Plan) -> int:
        spread = made.cheapest.distribution
        return 1 if spread is None else spread.data or 1

    assert devices(weak) > 1
    assert devices(strong) > 1
    assert made_steps(weak) == -(-10_000 // devices(weak))
    assert made_steps(strong) == 10_000
    for made in (weak, strong):
        assert made.cheapest.prediction.job_s is not None
        assert made.cheapest.prediction.job_s.mean <= hour.total_seconds()
    soon = {"before": dt.datetime.now(dt.UTC) + dt.timedelta(seconds=60 + 10_000 * 0.11)}
    with pytest.raises(PlannerError, match=r"The nearest to ending before"):
        planned(SHARED, mode="strong", **options, **soon)


def made_steps(made: Plan) -> int | None:
    return made.best.job().max_steps


def test_a_job_of_devices_that_share_a_step_divides_its_batch() -> None:
    made = planned(SHARED, mode="strong", num_devices=8, families=["p3"], steps=100)

    job = made.best.job()

    assert job.hyperparameters["batch_size"] == 32
    assert job.distribution == made.cheapest.distribution
    assert job.max_steps == 100
    cautions = made.cheapest.prediction.cautions
    assert "The 256 samples of a step are kept: 32 on each of 8 devices." in cautions


def test_a_step_that_devices_cannot_share_alike_is_left_out_and_said() -> None:
    fields = SHARED | {"batch_size": 12}
    made = planned(fields, mode="strong", num_devices=None, families=["p3"], max_trainers=8)

    counts = {each.distribution.data for each in made.candidates if each.distribution}
    assert counts == {2, 4}
    assert made.refused["a batch of 12 cannot be shared by their devices alike"] > 0


def test_sharing_a_step_needs_the_device_time_of_two_batch_sizes() -> None:
    fields = SHARED | {"device_points": SHARED["device_points"][1:]}

    with pytest.raises(PlannerError, match=r"batch_size=128 is not known.*two batch sizes"):
        planned(fields, mode="strong", num_devices=2, families=["p3"], max_trainers=2)
