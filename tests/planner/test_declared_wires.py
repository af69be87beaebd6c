"""What the planner makes of a network that an emulation declares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.placed import placed
from smtc_lab.launchers.emulation.emulated_link import declared_link, link_facts
from smtc_lab.parallel.link.pace import Pace
from smtc_lab.planner.calibration.parts import LinkPoint
from smtc_lab.planner.forecast.declared_wires import declared_wires, launched_wires
from smtc_lab.planner.forecast.forecast import surroundings
from smtc_lab.planner.forecast.launched import (
    AskedSetUp,
    laid_out,
    setup_of,
)
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.model.setup import Setup
from smtc_lab.planner.plan import plan
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from smtc_lab.spec.job import TrainingJob
from tests.kit.calibrations import calibration, measured

CATALOG = Catalog.load()
LINK = EmulatedLink.parse("inside=80Gbit/20us,between=1Gbit/300us")
GRADIENT_BYTES = 32e6
CALIBRATION = calibration(
    gradient_bytes=GRADIENT_BYTES,
    emulated_device_s=0.03,
    links=tuple(LinkPoint(nbytes=size, all_reduce_s=measured(1e-5)) for size in (65536, 2**24)),
)


def job(cluster: str, link: EmulatedLink | None, dilation: float = 1.0) -> TrainingJob:
    return TrainingJob(
        entry_point="train.py",
        cluster=Cluster.parse(cluster),
        emulation=Emulation(link=link, time_dilation=dilation),
    )


def facts_of(asked: TrainingJob, *, is_rated: bool = False) -> dict[str, Any]:
    return link_facts(asked, placed(asked, CATALOG), is_rated=is_rated)


def launched_setup(asked: TrainingJob) -> Setup:
    emulation = asked.emulation
    assert emulation is not None
    table = surroundings(AskedSetUp(job=asked, emulation=emulation), CATALOG, 2.0).table
    return setup_of(asked, laid_out(placed(asked, CATALOG), table), table, emulation=emulation)


def all_reduce_s(**setup: object) -> float:
    said = predict(CALIBRATION, Setup(trainer_cores=90.0, **setup)).exchange  # type: ignore[arg-type]
    assert said is not None
    return said.all_reduce_s


@pytest.mark.parametrize(("trainers", "devices"), [(2, 1), (1, 2), (4, 1), (2, 4)])
def test_a_predicted_all_reduce_is_what_the_emulation_holds_gradients_back_for(
    trainers: int, devices: int
) -> None:
    wires = declared_wires(LINK, rated_gbps=25.0)
    facts = facts_of(job("a=ml.p3.8xlarge:2", LINK))
    declared = declared_link(facts)
    assert declared is not None
    pace = Pace(
        declared,
        world_size=trainers * devices,
        local_world_size=devices,
    )

    found_s = all_reduce_s(
        trainers=float(trainers),
        devices=float(devices),
        **wires,
    )

    assert found_s == pytest.approx(pace.all_reduce_s(int(GRADIENT_BYTES)), rel=0.06)


def test_a_launch_and_what_is_typed_give_the_planner_the_same_network() -> None:
    typed = declared_wires(LINK, rated_gbps=25.0)
    facts = facts_of(job("a=ml.p3.8xlarge:2", LINK, 4.0))

    assert launched_wires(facts, dilation=4.0) == typed  # to the bit
    here = launched_wires(facts)
    assert float(here["between_alpha_s"]) == pytest.approx(1.2e-3)


def test_a_bandwidth_that_is_not_declared_is_the_rated_one_and_inside_this_machines() -> None:
    wires = declared_wires(EmulatedLink(), rated_gbps=10.0)

    assert all_reduce_s(trainers=2.0, **wires) == pytest.approx(
        GRADIENT_BYTES / (10e9 / 8), rel=0.03
    )
    assert "inside_gbps" not in wires


def test_no_declared_network_says_nothing() -> None:
    assert declared_wires(None, rated_gbps=10.0) == {}
    assert launched_wires({}) == {}


def test_a_launch_and_its_forecast_have_the_networks_of_the_catalog() -> None:
    dilation = 4.0
    asked = job("a=ml.p3.8xlarge:2,b=ml.c5.xlarge:1", None, dilation)
    facts = {
        **facts_of(asked, is_rated=True),
        "batches": {
            "trainer_bytes_per_s": 10e9 / 8 / dilation,
            "data_bytes_per_s": 1.25e9 / 8 / dilation,
            "connection_bytes_per_s": 1.25e9 / 8 / dilation,
        },
    }

    setup = launched_setup(asked)

    launched = launched_wires(facts, dilation=dilation)
    assert launched == {
        name: pytest.approx(float(np.ravel(getattr(setup, name))[0])) for name in launched
    }
    assert sorted(launched) == ["between_alpha_s", "between_gbps", "data_gbps", "trainer_gbps"]


def test_a_forecast_of_machines_that_are_here_has_no_network_of_the_catalog() -> None:
    asked = job("a=local:2", None)

    setup = launched_setup(asked)

    assert np.isinf(setup.between_gbps).all()
    assert np.isinf(setup.trainer_gbps).all()
    assert np.isnan(np.asarray(setup.between_alpha_s)).all()


def test_a_plan_counts_with_a_network_that_is_declared_and_its_job_declares_it() -> None:
    def planned(link: EmulatedLink | None) -> float:
        made = plan(CALIBRATION, link=link, max_trainers=2).cluster("a=ml.p3.2xlarge:2")
        assert made.job().emulation is not None
        assert made.job().emulation.link == link  # type: ignore[union-attr]
        assert made.prediction.exchange is not None
        return made.prediction.exchange.all_reduce_s

    slow = EmulatedLink.parse("between=100Mbit/100us")
    assert planned(slow) > 10 * planned(None)
    assert planned(slow) == pytest.approx(GRADIENT_BYTES / (0.1e9 / 8), rel=0.02)
