from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import papermill
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    SmtcLab = Callable[..., Any]

FIGURES = [
    {
        "name": "step timer",
        "value": 2.5e-06,
        "low": 2e-06,
        "high": 3e-06,
        "unit": "s",
        "peer": None,
        "goal": 5e-06,
        "better": "lower",
        "holds": True,
    },
    {
        "name": "throughput",
        "value": 0.8,
        "low": None,
        "high": None,
        "unit": "x",
        "peer": "torch's DataLoader",
        "goal": 1.0,
        "better": "higher",
        "holds": False,
    },
    {
        "name": "memory",
        "value": 12.0,
        "low": None,
        "high": None,
        "unit": "MiB",
        "peer": None,
        "goal": None,
        "better": "lower",
        "holds": None,
    },
]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the parameters that a notebook was given; it writes three figures."""
    given: dict[str, Any] = {}

    def execute(notebook: str, output: str, parameters: dict[str, Any], **_: object) -> None:
        given.update(parameters, notebook=Path(notebook).name, output=output)
        Path(parameters["json_file"]).write_text(
            json.dumps({"machine": {}, "versions": {}, "figures": FIGURES}), encoding="utf-8"
        )

    monkeypatch.setattr(papermill, "execute_notebook", execute)
    return given


def test_outside_a_clone_it_says_where_the_benchmarks_are(
    smtc_lab: SmtcLab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "site-packages" / "smtc_lab"
    (package / "notebooks").mkdir(parents=True)
    monkeypatch.setattr("smtc_lab.__file__", str(package / "__init__.py"))

    said = smtc_lab("bench", "overhead")

    assert said.exit_code == 2
    assert said.err == (
        "Refused: The benchmarks are in the repository of smtc_lab, not in what is installed "
        f"at {str(package.parent)!r}: clone it, run 'make setup' there, then "
        "'.venv/bin/smtc-lab bench'.\n"
    )


def test_figures_are_printed_with_interval_goal_and_whether_it_holds(
    smtc_lab: SmtcLab, given: dict[str, Any], tmp_path: Path
) -> None:
    target = tmp_path / "new" / "overhead.json"

    said = smtc_lab("bench", "overhead", "--json", target, "-p", "repeats=3", "-p", "mode=fast")

    assert said.exit_code == 0
    assert said.out.splitlines() == [
        "step timer: 2.5e-06 (2e-06 to 3e-06) s, goal at most 5e-06: holds",
        "throughput against torch's DataLoader: 0.8 x, goal at least 1: MISSED",
        "memory: 12 MiB",
    ]
    assert json.loads(target.read_text(encoding="utf-8"))["figures"] == FIGURES
    assert given["notebook"] == "bench_overhead.ipynb"
    assert (given["repeats"], given["mode"]) == (3, "fast")


def test_a_notebook_that_writes_nothing_is_a_failure_and_old_figures_are_not_shown(
    smtc_lab: SmtcLab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(papermill, "execute_notebook", lambda *_, **__: None)
    target = tmp_path / "overhead.json"
    target.write_text(json.dumps({"figures": FIGURES}), encoding="utf-8")

    said = smtc_lab("bench", "overhead", "--json", target)

    assert said.exit_code == 1
    assert said.out == ""
    assert "'overhead' ended without writing its figures" in said.err
    assert "--keep" in said.err


def test_a_failing_notebook_says_what_it_raised(
    smtc_lab: SmtcLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def execute(*_: object, **__: object) -> None:
        raise papermill.PapermillExecutionError(0, 1, "", "ZeroDivisionError", "by zero", [])

    monkeypatch.setattr(papermill, "execute_notebook", execute)

    said = smtc_lab("bench", "overhead")

    assert said.exit_code == 1
    assert "bench_overhead.ipynb failed: ZeroDivisionError: by zero" in said.err
