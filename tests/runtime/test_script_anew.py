"""A script that ``auto`` starts anew: what its second process says, and what prevents it."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.compiler.choosing.kept import KEPT_VARIABLE, Kept
from smtc_lab.compiler.choosing.step_times import not_tried
from smtc_lab.errors import CompilerError
from smtc_lab.machine.environments.xla_environment import XlaEnvironment, with_xla_environment
from smtc_lab.runtime.elsewhere.move import ScriptElsewhere
from smtc_lab.runtime.elsewhere.started import Started
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCRIPT = """
    import os, torch
    import smtc_lab as lab

    def train_step(model, optimizer, batch):
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        return loss

    session = lab.Session()
    steps = []
    for _ in range(int(os.environ.get("COMPILED", "1"))):
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        steps.append(session.compile(train_step, model, optimizer))
    loader = session.dataloader(torch.ones(60, 2), batch_size=1)
    for number, batch in enumerate(session.steps(loader)):
        for step in steps:
            step(batch)
"""


def report_of(run: Any) -> dict[str, Any]:
    folder = run.folder.opt_ml("algo-1") / "output" / "data" / "compiler"
    report: dict[str, Any] = json.loads((folder / "report-rank0.json").read_text("utf-8"))
    return report


@pytest.mark.skipif(
    importlib.util.find_spec("torch_xla") is not None, reason="torch_xla is installed"
)
def test_where_xla_fails_the_new_process_goes_on_eagerly_and_says_so(
    run_script: Callable[..., Any],
) -> None:
    config = TrainingCompilerConfig(backend="auto", keep_memory=False, fallback="error")
    kept = Kept(
        config=config,
        steps=7,
        probes=(not_tried("inductor", "not tried: a test"),),
        probe_s=100.0,
        chosen_because="xla is kept",
        moved_s=time.time(),
    )

    run = run_script(
        SCRIPT,
        SMTC_MAX_STEPS="5",
        SMTC_COMPILER=kept.settings().model_dump_json(),
        **{KEPT_VARIABLE: kept.model_dump_json()},
    )

    assert run.exit_code == 0, run.errors
    assert [record.step for record in run.steps] == list(range(7, 12))
    report = report_of(run)
    assert report["config"] == config.model_dump()
    assert (report["backend"], report["probe_steps"]) == ("eager", 7)
    assert "'torch_xla', which is not installed" in report["fell_back_because"]
    assert report["chosen_because"] == "xla is kept"
    assert [probe["backend"] for probe in report["probes"]] == ["inductor"]
    assert 100 < report["probe_s"] < 100 + 600
    assert any("The step goes on eagerly" in event.message for event in run.events)


def test_a_script_that_compiles_several_steps_is_not_started_elsewhere(
    run_script: Callable[..., Any], tmp_path: Path
) -> None:
    environment = XlaEnvironment(python=str(tmp_path / "never_started"), path="/nowhere")

    run = run_script(
        SCRIPT,
        COMPILED="2",
        CXX="/no/such/compiler",  # so inductor fails at once
        SMTC_COMPILER=TrainingCompilerConfig(backend="auto").model_dump_json(),
        **with_xla_environment(environment),
    )

    assert run.exit_code == 0, run.errors
    why = "the script compiles several steps"
    first = [event.message for event in run.events if "xla cannot run" in event.message]
    assert [message.partition(": ")[2].partition(": ")[2][: len(why)] for message in first] == [
        why
    ]
    problems = {probe["backend"]: probe["problem"] for probe in report_of(run)["probes"]}
    assert problems["xla"].startswith(f"not tried: {why}")  # the second one's


def test_an_interpreter_that_does_not_start_is_told_and_eager_goes_on(
    run_script: Callable[..., Any], tmp_path: Path
) -> None:
    environment = XlaEnvironment(python=str(tmp_path / "gone"), path="/nowhere")

    run = run_script(
        SCRIPT,
        CXX="/no/such/compiler",
        SMTC_COMPILER=TrainingCompilerConfig(backend="auto").model_dump_json(),
        **with_xla_environment(environment),
    )

    assert run.exit_code == 0, run.errors
    assert len(run.steps) == 60
    assert any("its environment does not start: " in event.message for event in run.events)
    assert list(run.folder.opt_ml("algo-1").glob("auto-xla-*")) == []


def test_nothing_is_closed_where_the_interpreter_is_gone(tmp_path: Path) -> None:
    closed: list[bool] = []
    elsewhere = ScriptElsewhere(
        XlaEnvironment(python=str(tmp_path / "gone"), path="/nowhere"),
        Started(sys.argv[0], []),
        config=TrainingCompilerConfig(),
        num_steps=lambda: 7,
        close=lambda: closed.append(True),
    )

    with pytest.raises(
        CompilerError, match=r"interpreter '.*gone' of XLA's environment is gone"
    ):
        elsewhere.move({})

    assert closed == []
