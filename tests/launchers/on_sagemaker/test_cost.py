"""Nothing is started whose worst case was not confirmed, or exceeds the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import LauncherError
from smtc_lab.launchers.confirmation import require_confirmation
from smtc_lab.launchers.on_sagemaker.plan import make_plan
from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.confirmation import Confirmation
    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]

HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2"
NEW = "dnn_group=ml.p9.48xlarge:1:train"
PRICES = Catalog.load().with_prices(
    {"ml.p3.2xlarge": (4.0, "2026-01-01"), "ml.c5.9xlarge": (2.0, "2026-01-01")}
)


def changed(settings: SageMakerSettings, **values: object) -> SageMakerSettings:
    return SageMakerSettings(**{**settings.model_dump(), **values})


def words_of(plan: LaunchPlan) -> str:
    assert plan.order is not None
    return plan.order.words


def refusal(plan: LaunchPlan, *, confirm: Confirmation = False) -> str:
    with pytest.raises(LauncherError) as refused:
        require_confirmation(plan, confirm=confirm)
    return str(refused.value)


def test_a_launch_without_a_word_is_refused_with_the_sum_its_prices_and_what_to_write(
    make_job: MakeJob, settings: SageMakerSettings
) -> None:
    job = make_job("", cluster=HETEROGENEOUS, max_runtime_s=7200)
    plan = make_plan(job, settings, PRICES)

    message = refusal(plan)

    assert "at most $16.00: 3 instances at $8/h for at most 2 h" in message
    assert "ml.p3.2xlarge: $4/h, user, 2026-01-01" in message
    assert "Pass confirm=True" in message
    require_confirmation(plan, confirm=True)


def test_a_limit_refuses_what_could_exceed_it_and_says_how_long_it_pays(
    make_job: MakeJob, settings: SageMakerSettings
) -> None:
    job = make_job("", cluster=HETEROGENEOUS, max_runtime_s=7200)

    message = refusal(make_plan(job, changed(settings, max_usd=10.0), PRICES), confirm=True)

    assert "exceeds max_usd=10. Lower max_runtime_s to 4500 s" in message
    enough = make_plan(job, changed(settings, max_usd=16.0), PRICES)
    require_confirmation(enough, confirm=True)


def test_an_unknown_price_needs_words_of_its_own_and_passes_no_limit(
    make_job: MakeJob, settings: SageMakerSettings
) -> None:
    job = make_job("", cluster=NEW)
    plan = make_plan(job, settings, PRICES)
    limited = make_plan(job, changed(settings, max_usd=1e6), PRICES)

    assert "confirm='price unknown'" in refusal(plan, confirm=True)
    assert "Nobody can say" in refusal(limited, confirm="price unknown")
    require_confirmation(plan, confirm="price unknown")


def test_instances_that_are_kept_are_part_of_the_worst_case(
    make_job: MakeJob, settings: SageMakerSettings
) -> None:
    job = make_job("", max_runtime_s=3600)

    plan = make_plan(job, changed(settings, keep_alive_s=3600), PRICES)

    assert plan.facts["worst_case_usd"] == pytest.approx(8.0)
    assert "for at most 2 h" in words_of(plan)


def test_prices_of_another_region_are_said_to_be_so(
    make_job: MakeJob, settings: SageMakerSettings
) -> None:
    here = make_plan(make_job(""), settings, PRICES)
    elsewhere = make_plan(make_job(""), changed(settings, region="eu-west-1"), PRICES)

    assert "other regions" not in words_of(here)
    assert "prices of us-east-1; other regions" in words_of(elsewhere)
