from __future__ import annotations

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.cpu_speed import (
    FAMILY_GENERATION,
    GENERATION_FACTOR,
    CpuSpeed,
    relative_cpu_speed,
)
from smtc_lab.errors import CatalogError

CATALOG = Catalog.load()


def test_the_reference_has_speed_one() -> None:
    assert relative_cpu_speed("ml.p3.2xlarge", {}) == CpuSpeed(1.0, "estimated")


def test_a_faster_clock_and_a_later_generation_make_a_vcpu_faster() -> None:
    speed = relative_cpu_speed("ml.c5.9xlarge", {})

    assert speed.value == pytest.approx(3.4 / 2.7 * 1.15)
    assert speed.kind == "estimated"


def test_a_type_and_its_name_have_one_speed() -> None:
    by_type = relative_cpu_speed(CATALOG.get("ml.g5.xlarge"), {})

    assert by_type == relative_cpu_speed("ml.g5.xlarge", {})


def test_the_users_speed_of_a_type_wins_over_that_of_its_family() -> None:
    overrides = {"c5": 1.2, "ml.c5.9xlarge": 1.62}

    assert relative_cpu_speed("ml.c5.9xlarge", overrides) == CpuSpeed(1.62, "user")
    assert relative_cpu_speed("ml.c5.18xlarge", overrides) == CpuSpeed(1.2, "user")
    assert relative_cpu_speed("ml.m5.large", overrides).kind == "estimated"


def test_an_unknown_clock_stays_unknown() -> None:
    with pytest.raises(CatalogError, match=r"gb200.* not known \(clock unknown.*Give relative"):
        relative_cpu_speed("ml.p6e-gb200.36xlarge", {})


def test_the_user_can_say_what_is_unknown() -> None:
    speed = relative_cpu_speed("ml.p6e-gb200.36xlarge", {"p6e-gb200": 2.0})

    assert speed == CpuSpeed(2.0, "user")


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(CatalogError, match=r"Did you mean ml\.c5\.9xlarge"):
        relative_cpu_speed("ml.c5.9xlarg", {})


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_the_users_speed_is_above_zero(value: float) -> None:
    with pytest.raises(CatalogError, match=r"relative_cpu_speed of c5 is .* above 0"):
        relative_cpu_speed("ml.c5.9xlarge", {"c5": value})


def test_every_type_with_a_known_clock_has_an_estimate() -> None:
    for name in CATALOG.names():
        if CATALOG.get(name).sustained_clock_ghz is not None:
            assert 0.5 < relative_cpu_speed(name, {}).value < 3


def test_every_generation_that_a_family_names_has_a_factor() -> None:
    assert set(FAMILY_GENERATION.values()) == set(GENERATION_FACTOR)
