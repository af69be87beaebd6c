"""Python environments in widgets. What makes XLA's is a fake: it takes minutes and 9 GB."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.environments import make
from smtc_lab.machine.environments.named import (
    ENVIRONMENTS_VARIABLE,
    add_environment,
    remove_environment,
)
from smtc_lab.machine.environments.probe import todays_facts
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.environments import xla_maker
from smtc_lab.views.environments.choices import EnvironmentChoice, EnvironmentChoices
from smtc_lab.views.widgets.compiler_settings import CompilerSettings
from smtc_lab.views.widgets.traits import environments as environments_trait
from smtc_lab.views.widgets.workbench import Workbench
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.views.widgets.traits.environments import EnvironmentsView

HERE = Path(sys.executable)


@pytest.fixture(autouse=True)
def own_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENTS_VARIABLE, str(tmp_path))
    maker = xla_maker.XlaMaker()  # that of the process knows of other tests
    monkeypatch.setattr(environments_trait, "XLA_MAKER", maker)


@pytest.fixture(params=[Workbench, CompilerSettings])
def widget(request: pytest.FixtureRequest) -> EnvironmentsView:
    made: EnvironmentsView = request.param()
    return made


def receive(widget: EnvironmentsView, kind: str) -> None:
    """Hand a widget a message of a browser."""
    widget._handle_custom_msg({"type": kind}, [])


def names(widget: EnvironmentsView) -> list[str]:
    return [choice["name"] for choice in widget.environments["choices"]]


def job(environment: str | None, **fields: Any) -> TrainingJob:
    return TrainingJob(
        entry_point="train.py",
        cluster=Cluster.parse("one@here=local:1"),
        python_environment=environment,
        **fields,
    )


@pytest.mark.parametrize("kind", [Workbench, CompilerSettings])
def test_it_begins_with_the_names_that_there_are(kind: type[EnvironmentsView]) -> None:
    add_environment("mine", HERE)

    widget = kind()

    assert names(widget) == ["today", "mine"]
    assert widget.environments["choices"][0]["torch"] == todays_facts().torch


def test_a_view_that_opens_is_told_what_interpreters_say(widget: EnvironmentsView) -> None:
    assert names(widget) == ["today"]
    add_environment("mine", HERE)

    receive(widget, "environments")

    wait_until(lambda: len(names(widget)) == 2, what="the environments are told")
    today, mine = widget.environments["choices"]
    assert mine["torch"] == today["torch"]


def test_xla_is_made_once_and_can_be_used_then(
    widget: EnvironmentsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, end, seen = [], threading.Event(), []
    todays = widget.environments["choices"][0]

    def fake(name: str, *, say: Callable[[str], None]) -> None:
        begun.append(name)
        say("Installing 80 packages.")
        end.wait(PATIENCE_S)

    def asked() -> EnvironmentChoices:
        xla = EnvironmentChoice(name="xla", torch="2.9.1", torch_xla="2.9.0")
        return EnvironmentChoices(choices=(EnvironmentChoice(**todays), xla), no_xla="")

    monkeypatch.setattr(make, "make_environment", fake)
    monkeypatch.setattr(environments_trait, "asked_choices", asked)
    widget.observe(lambda change: seen.append(change.new["making"]), "environments")

    receive(widget, "make-xla")
    receive(widget, "make-xla")
    wait_until(lambda: seen and seen[-1]["sentence"].startswith("Installing"), what="progress")
    end.set()

    wait_until(lambda: seen[-1]["state"] == "done", what="it is made")
    assert begun == ["xla"]
    assert names(widget) == ["today", "xla"]
    assert widget.environments["no_xla"] == ""


def test_why_it_could_not_be_made_is_told(
    widget: EnvironmentsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fake(name: str, *, say: Callable[[str], None]) -> None:
        say("Resolving its packages.")
        raise PythonEnvironmentError(f"The disk is full of {name}. Free the place.")

    monkeypatch.setattr(make, "make_environment", fake)

    receive(widget, "make-xla")

    wait_until(
        lambda: widget.environments["making"]["state"] == "failed", what="the failure is told"
    )
    assert widget.environments["making"]["sentence"].startswith("The disk is full of xla.")


def test_a_set_up_in_a_missing_environment_cannot_be_run_until_it_is_there() -> None:
    workbench = Workbench([job("mine")])
    assert workbench.problems[0][0].startswith("There is no environment named 'mine'.")

    add_environment("mine", HERE)
    receive(workbench, "environments")

    wait_until(lambda: workbench.problems == [[]], what="it is found")
    assert 'python_environment="mine"' in workbench.code


def test_a_set_up_whose_environment_was_removed_says_so_when_a_view_looks() -> None:
    add_environment("mine", HERE)
    workbench = Workbench([job("mine")])
    receive(workbench, "environments")
    wait_until(lambda: workbench.environments["choices"][1]["torch"], what="it is asked")

    remove_environment("mine")
    receive(workbench, "environments")

    wait_until(lambda: workbench.problems != [[]], what="it is missed")
    assert workbench.problems[0][0].startswith("There is no environment named 'mine'.")


def test_xla_without_torch_xla_is_a_problem_in_the_words_of_its_form() -> None:
    if todays_facts().why_not_xla is None:
        pytest.skip("this environment has torch_xla")
    workbench = Workbench([job(None, compiler_config=TrainingCompilerConfig(backend="xla"))])

    assert workbench.problems == [[workbench.environments["no_xla"]]]
