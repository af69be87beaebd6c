from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ipywidgets
import pytest

from smtc_lab.metrics.batch.learning_rate import scaled_learning_rate
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.widgets.compiler_settings import CompilerSettings

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCHEMA = Path(__file__).parents[3] / "extensions" / "protocol" / "schema" / "training_job.json"
RATES = json.loads((FIXTURES / "learning_rates.json").read_text(encoding="utf-8"))


def test_the_schema_of_the_forms_is_that_of_the_spec() -> None:
    committed = json.loads(SCHEMA.read_text(encoding="utf-8"))

    assert committed == TrainingJob.model_json_schema(), (
        "the spec changed: run node extensions/protocol/make_types.mjs"
    )


@pytest.mark.parametrize("case", RATES)
def test_suggestions_are_those_that_the_browser_makes(case: dict[str, Any]) -> None:
    suggestion = scaled_learning_rate(**case["input"])

    assert suggestion.model_dump() == pytest.approx(case["suggestion"])


def test_without_settings_the_step_is_plain() -> None:
    settings = CompilerSettings()

    assert settings.value is None
    assert settings.config is None
    assert settings.code == "config = None  # plain PyTorch\n"


def test_settings_that_are_assigned_come_back() -> None:
    settings = CompilerSettings()
    config = TrainingCompilerConfig(backend="inductor", dynamic=True)

    settings.config = config

    assert settings.config == config
    assert 'backend="inductor"' in settings.code


def test_a_refused_value_keeps_the_last_good_settings() -> None:
    settings = CompilerSettings(TrainingCompilerConfig(backend="xla"))

    settings.set_state({"value": {"backend": "<script>", "timeout_s": -1}})

    assert settings.config == TrainingCompilerConfig(backend="xla")
    assert len(settings.problems) == 2
    assert "<script>" in settings.problems[0]


def test_settings_can_go_back_to_plain() -> None:
    settings = CompilerSettings(TrainingCompilerConfig())

    settings.value = None

    assert settings.config is None


def test_batch_size_and_learning_rate_become_hyperparameters() -> None:
    settings = CompilerSettings(
        batch_size=256, base_batch_size=32, learning_rate=0.1, optimizer="SGD"
    )
    settings.batch_size_name = "batch"

    assert settings.hyperparameters == {"batch": 256, "learning_rate": pytest.approx(0.8)}


def test_a_batch_size_alone_changes_no_learning_rate() -> None:
    assert CompilerSettings(batch_size=64).hyperparameters == {"batch_size": 64}


def test_a_rule_of_ones_own_wins() -> None:
    settings = CompilerSettings(
        batch_size=128, base_batch_size=32, learning_rate=0.1, optimizer="SGD", rule="sqrt"
    )

    assert settings.suggestion["rule"] == "sqrt"
    assert settings.suggestion["learning_rate"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"batch_size": 0}, "batch_size=0 is not above 0. Give a number above 0."),
        ({"base_batch_size": 1.5}, "base_batch_size=1.5 is not a whole number."),
        ({"learning_rate": -1}, "learning_rate=-1 is not above 0."),
        ({"batch_size_name": "a b"}, "Hyperparameter name 'a b' is not a letter"),
        ({"batch_size_name": "learning_rate"}, "are both the hyperparameter 'learning_rate'"),
    ],
)
def test_a_wrong_number_or_name_is_a_problem_and_gives_no_hyperparameters(
    wrong: dict[str, Any], problem: str
) -> None:
    settings = CompilerSettings(batch_size=64, base_batch_size=32, learning_rate=0.1)

    settings.set_state(wrong)

    (found,) = settings.problems
    assert problem in found
    assert settings.hyperparameters == {}


def test_settings_can_be_linked_and_laid_out() -> None:
    settings, steps = CompilerSettings(), ipywidgets.IntText(200)

    ipywidgets.link((steps, "value"), (settings, "job_steps"))
    box = ipywidgets.VBox([steps, settings])
    steps.value = 50

    assert settings.job_steps == 50
    assert box.children == (steps, settings)
