"""The Python environments that a form offers; those of these tests are this very one."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.machine.environments.named import (
    PythonEnvironment,
    add_environment,
    folder_of,
    keep_environment,
)
from smtc_lab.machine.environments.probe import todays_facts
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.code.set_ups import checked_set_ups
from smtc_lab.views.environments.choices import (
    EnvironmentChoice,
    EnvironmentChoices,
    asked_choices,
    named_choices,
)
from smtc_lab.views.environments.told import environments_json
from smtc_lab.views.environments.xla_maker import Making

if TYPE_CHECKING:
    from tests.kit.golden_texts import GoldenTexts

HERE = Path(sys.executable)
FIXTURE = Path(__file__).parents[2] / "fixtures" / "environments.json"
XLA = TrainingCompilerConfig(backend="xla")


def job(name: str | None = None, **fields: Any) -> TrainingJob:
    return TrainingJob(
        entry_point="train.py",
        cluster=Cluster.parse("one@here=local:1"),
        python_environment=name,
        **fields,
    )


def without_xla(*others: EnvironmentChoice, no_xla: str = "Make it.") -> EnvironmentChoices:
    today = EnvironmentChoice(name="today", torch="2.15.0", no_xla="Choose another.")
    return EnvironmentChoices(choices=(today, *others), no_xla=no_xla)


def test_the_fixture_is_what_the_browser_is_told() -> None:
    wire = json.loads(FIXTURE.read_text(encoding="utf-8"))
    choices = tuple(EnvironmentChoice(**each) for each in wire["choices"])

    told = environments_json(
        EnvironmentChoices(choices=choices, no_xla=wire["no_xla"]), Making(**wire["making"])
    )

    assert json.loads(json.dumps(told)) == wire
    assert set(wire["choices"][0]) == {each.name for each in fields(EnvironmentChoice)}


def test_the_environment_that_launches_comes_first_with_its_torch() -> None:
    (today,) = named_choices().choices

    assert today.name == "today"
    assert today.torch == todays_facts().torch


def test_names_are_told_before_an_interpreter_is_asked() -> None:
    add_environment("mine", HERE)

    assert named_choices().choices[1] == EnvironmentChoice(name="mine")


def test_each_environment_has_the_torch_that_its_interpreter_tells() -> None:
    add_environment("mine", HERE)

    today, mine = asked_choices().choices

    assert (mine.name, mine.torch, mine.problem) == ("mine", today.torch, "")


def test_why_no_job_can_run_in_an_environment(golden_texts: GoldenTexts) -> None:
    answers_nothing = shutil.which("false") or ""
    add_environment("false", Path(answers_nothing))
    folder_of("gone").mkdir(parents=True)
    keep_environment(PythonEnvironment(name="gone", python="/nowhere/bin/python"))

    _, *others = asked_choices().choices

    problems = named_choices().problems(job("missing"))
    assert [each.torch for each in others] == [None, None]
    assert len(problems) == 1
    golden_texts(
        "environments",
        {each.name: each.problem.replace(answers_nothing, "false") for each in others}
        | {"missing": problems[0]},
    )


def test_what_is_wrong_with_a_named_environment_is_wrong_with_the_job() -> None:
    add_environment("bare", HERE)
    known = without_xla(EnvironmentChoice(name="bare", problem="It has no torch."))

    assert known.problems(job("bare")) == ["It has no torch."]
    assert known.problems(job()) == []
    assert known.problems(job("today")) == []


@pytest.mark.parametrize(
    ("name", "problems"),
    [(None, ["Make it."]), ("today", ["Choose another."]), ("good", []), ("old", ["Too old."])],
)
def test_xla_is_missed_where_the_job_runs(name: str | None, problems: list[str]) -> None:
    for each in ("good", "old"):
        add_environment(each, HERE)
    known = without_xla(
        EnvironmentChoice(name="good", torch_xla="2.9.0"),
        EnvironmentChoice(name="old", no_xla="Too old."),
    )

    assert known.problems(job(name, compiler_config=XLA)) == problems
    assert known.problems(job(name)) == []


def test_a_job_that_may_fall_back_to_eager_needs_no_xla() -> None:
    lenient = XLA.model_copy(update={"fallback": "eager"})

    assert without_xla().problems(job(compiler_config=lenient)) == []


def test_without_torch_xla_it_is_said_how_to_make_it() -> None:
    if todays_facts().why_not_xla is None:
        pytest.skip("this environment has torch_xla")

    no_xla = named_choices().no_xla

    assert "neither the environment 'today' nor one named 'xla' has" in no_xla
    assert "'smtc-lab environment make xla'" in no_xla


def test_an_environment_of_xla_without_torch_xla_does_not_count() -> None:
    if todays_facts().why_not_xla is None:
        pytest.skip("this environment has torch_xla")
    add_environment("xla", HERE)

    assert named_choices().no_xla == ""  # not known yet
    assert "'xla' has no torch_xla" in asked_choices().no_xla


def test_set_ups_that_differ_in_the_environment_only_are_told_apart() -> None:
    add_environment("mine", HERE)
    values = [job(name).model_dump(mode="json") for name in (None, "mine")]

    checked = checked_set_ups(values, 3)

    assert [each.cluster.label for each in checked.jobs] == ["one, today", "one, mine"]
    assert 'python_environment="mine"' in checked.code
    assert 'name="one, mine"' in checked.code


def test_set_ups_that_have_names_of_their_own_keep_them() -> None:
    add_environment("mine", HERE)
    other = job("mine").model_copy(update={"cluster": Cluster.parse("two@here=local:1")})
    values = [each.model_dump(mode="json") for each in (job(), other)]

    labels = [each.cluster.label for each in checked_set_ups(values, 3).jobs]

    assert labels == ["one", "two"]


def test_a_long_name_with_its_environment_is_cut_to_what_a_cluster_may_have() -> None:
    add_environment("mine", HERE)
    long = Cluster(instance_groups=job().cluster.instance_groups, name="x" * 64)
    jobs = [job(name).model_copy(update={"cluster": long}) for name in (None, "mine")]

    checked = checked_set_ups([each.model_dump(mode="json") for each in jobs], 3)

    assert len({each.cluster.label for each in checked.jobs}) == 2
    assert max(len(each.cluster.label) for each in checked.jobs) == 64


def test_a_missing_environment_is_a_problem_of_its_set_up_alone() -> None:
    values = [job(name).model_dump(mode="json") for name in (None, "gone")]

    checked = checked_set_ups(values, 3)

    assert checked.problems[0] == ()
    assert list(checked.problems[1]) == named_choices().problems(job("gone"))
    assert checked.code == ""
