"""A simulated run shows itself, and says that it was predicted."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from smtc_lab.planner.plan import plan
from smtc_lab.views.figures.theme import DARK
from smtc_lab.views.plan.simulated import simulated_figure
from tests.kit.calibrations import calibration
from tests.kit.hostile import markup_of

if TYPE_CHECKING:
    from smtc_lab.planner.model.simulation import SimulatedRun

INERT = {"div", "@aria-label", "@class", "@role", "@style"}


@pytest.fixture(scope="module")
def played() -> SimulatedRun:
    return plan(calibration(), families=["p3"]).simulate(steps=30)


def test_a_simulated_run_shows_itself_as_predicted(played: SimulatedRun) -> None:
    bundle = played._repr_mimebundle_()

    assert "Simulated run of 30 steps on 1 trainer, predicted: " in bundle["text/plain"]
    assert bundle["text/plain"] in bundle["text/html"].replace("\u00a0%", " %")
    assert markup_of(bundle["text/html"]) <= INERT
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert repr(played).startswith("<SimulatedRun of 30 steps: predicted ")


def test_its_figure_has_step_time_and_data_wait_of_each_step(played: SimulatedRun) -> None:
    (axes,) = simulated_figure(played, theme=DARK).axes

    assert axes.get_title(loc="left").startswith("Step time, predicted")
    times, waits = (list(line.get_ydata()) for line in axes.get_lines())
    assert times == [record.step_time_s for record in played.slowest()]
    assert waits == [record.data_wait_s for record in played.slowest()]
