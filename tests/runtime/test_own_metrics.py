"""What scripts log: by our own name, and by the loggers of others."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

import smtc_lab
from smtc_lab.errors import EntryPointError
from smtc_lab.metrics.records.metric_record import LONGEST_NAME, MOST_NAMES, MetricRecord
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.runtime.instance_runtime import instance_runtime
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.runtime.conftest import RunScript

    Logged = Callable[[], list[MetricRecord]]

RECORDS = "algo-1-rank0.sqlite"


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Logged]:
    """Be a trainer of a job; return what ends it and returns what it logged."""
    folder = RunFolder.create(tmp_path / "runs", "train-1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMTC_RUN_ID", str(folder.path))
    monkeypatch.setenv("SM_CURRENT_HOST", "algo-1")
    instance_runtime.cache_clear()

    def end() -> list[MetricRecord]:
        instance_runtime().close()
        return metrics_in(folder)

    yield end
    instance_runtime().close()
    instance_runtime.cache_clear()


def metrics_in(folder: RunFolder) -> list[MetricRecord]:
    return read_records(folder.records / RECORDS, MetricRecord)[0]


def values_of(records: list[MetricRecord]) -> dict[str, list[tuple[int | None, float]]]:
    found: dict[str, list[tuple[int | None, float]]] = {}
    for record in records:
        found.setdefault(record.name, []).append((record.step, record.number))
    return found


def test_numbers_arrays_and_tensors_of_one_element_are_kept_as_numbers(logged: Logged) -> None:
    smtc_lab.log(
        {"eval/loss": 0.5, "eval": {"accuracy": np.float32(0.25), "top": {"5": True}}},
        step=7,
        loss=torch.tensor(2.0, requires_grad=True),
        one=torch.tensor([[3]]),
        array=np.array([4.0]),
        count=np.int64(5),
    )

    assert values_of(logged()) == {
        "eval/loss": [(7, 0.5)],
        "eval/accuracy": [(7, 0.25)],
        "eval/top/5": [(7, 1.0)],
        "loss": [(7, 2.0)],
        "one": [(7, 3.0)],
        "array": [(7, 4.0)],
        "count": [(7, 5.0)],
    }


def test_nan_and_infinite_values_are_kept(logged: Logged) -> None:
    smtc_lab.log(a=math.nan, b=torch.tensor(-math.inf), c=1e300)

    (a,), (b,), (c,) = values_of(logged()).values()
    assert math.isnan(a[1])
    assert (b[1], c[1]) == (-math.inf, 1e300)


@pytest.mark.parametrize(
    ("values", "step", "said"),
    [
        ({"loss": "0.3"}, None, r"'loss' is no number, but str '0\.3'"),
        ({"loss": None}, None, "'loss' is no number, but NoneType None"),
        ({"a": {"b": torch.ones(3)}}, None, r"'a/b' is no number, but Tensor of shape \(3,\)"),
        ({"loss": np.ones((2, 2))}, None, r"ndarray of shape \(2, 2\)"),
        ({"loss": 10**400}, None, "'loss' is no number, but int 1000"),
        ({"loss": 1j}, None, "complex 1j"),
        ({3: 0.1}, None, r"name of a metric is 3 \(int\)"),
        ({" ": 0.1}, None, r"name of a metric is ' ' \(str\)"),
        ({"loss": 0.1}, -1, r"step -1 \(int\) is no whole number from 0 on"),
        ({"loss": 0.1}, 1.5, r"step 1\.5 \(float\) is no whole number"),
    ],
)
def test_what_is_no_number_is_refused_by_its_name_and_nothing_is_kept(
    logged: Logged, values: dict[str, Any], step: Any, said: str
) -> None:
    with pytest.raises(EntryPointError, match=said):
        smtc_lab.log({"first": 1.0, **values}, step=step)

    assert logged() == []


def test_outside_a_job_values_are_looked_at_and_nothing_is_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    instance_runtime.cache_clear()

    smtc_lab.log(loss=0.5)
    smtc_lab.Session().log({"loss": 0.5}, step=1)
    with pytest.raises(EntryPointError, match="'loss' is no number"):
        smtc_lab.log(loss="low")

    assert list(tmp_path.iterdir()) == []
    instance_runtime.cache_clear()


def test_in_a_loop_of_a_session_a_value_is_of_the_step_that_is_made(logged: Logged) -> None:
    session = smtc_lab.Session()
    data = torch.utils.data.TensorDataset(torch.ones(6, 1))
    loader = session.dataloader(data, batch_size=2, num_workers=0)
    instance_runtime().go_on_from(10)

    session.log(before=0.0)
    for number, _ in enumerate(session.steps(loader)):
        session.log(loss=float(number))
    session.log({"eval/loss": 9.0})

    assert values_of(logged()) == {
        "before": [(9, 0.0)],
        "loss": [(10, 0.0), (11, 1.0), (12, 2.0)],
        "eval/loss": [(12, 9.0)],
    }


def test_names_are_cut_made_neutral_and_at_most_a_thousand(
    logged: Logged, capsys: pytest.CaptureFixture[str]
) -> None:
    smtc_lab.log({"x\x1b[2J" + "n" * LONGEST_NAME: 1.0})
    for number in range(2 * MOST_NAMES):
        smtc_lab.log({f"loss {number}": 1.0})

    records = logged()
    assert len(records) == MOST_NAMES
    assert len(records[0].name) == LONGEST_NAME
    assert "\x1b" not in records[0].name
    folder = instance_runtime().context.run_folder
    assert folder is not None
    (event,) = read_records(folder.records / RECORDS, EventRecord)[0]
    assert event.kind == "warning"
    assert f"'loss {MOST_NAMES - 1}'" in event.message
    assert event.message in capsys.readouterr().out


def test_a_forked_process_records_nothing(logged: Logged) -> None:
    if (pid := os.fork()) == 0:
        smtc_lab.log(loss=1.0)
        os._exit(0)
    os.waitpid(pid, 0)

    assert logged() == []


STAND_IN = """
class SummaryWriter:  # a stand-in: tensorboardX need not be installed
    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None):
        return tag, scalar_value, global_step

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        for tag, value in tag_scalar_dict.items():
            self.add_scalar(tag, value, global_step)
        return self
"""
SCRIPT = """
    import multiprocessing
    import smtc_lab

    def alone(number):
        smtc_lab.log(stray=float(number))

    if __name__ == "__main__":
        from tensorboardX.writer import SummaryWriter
        import torch
        data = torch.utils.data.TensorDataset(torch.ones(6, 2))
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        writer = SummaryWriter()
        for number, (batch,) in enumerate(torch.utils.data.DataLoader(data, batch_size=2)):
            loss = model(batch).sum()
            loss.backward()
            smtc_lab.log(before=loss)
            optimizer.step()
            smtc_lab.log(after=number)
            told = writer.add_scalar("tb/loss", loss, 100 + number)
            assert told == ("tb/loss", loss, 100 + number)
        with torch.no_grad():
            for _ in torch.utils.data.DataLoader(data, batch_size=3):
                smtc_lab.log(evaluating=1.0)
        assert writer.add_scalars("eval", {"a": 1, "b": "text", "c": 3}, 5) is writer
        writer.add_scalar(None, object(), global_step="never")  # what is no number is theirs
        writer.add_scalar("no step", 4.0, global_step="never")
        child = multiprocessing.get_context("spawn").Process(target=alone, args=(1,))
        child.start()
        child.join()
        print(child.exitcode)
"""


def test_a_plain_script_logs_the_same_step_before_and_after_its_optimizer(
    run_script: RunScript, tmp_path: Path
) -> None:
    package = tmp_path / "code" / "tensorboardX"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "writer.py").write_text(STAND_IN, encoding="utf-8")

    ended = run_script(SCRIPT)

    assert (ended.exit_code, ended.printed) == (0, "0\n"), ended.errors
    found = values_of(metrics_in(ended.folder))
    assert {name: [step for step, _ in values] for name, values in found.items()} == {
        "before": [0, 1, 2],
        "after": [0, 1, 2],
        "tb/loss": [100, 101, 102],
        "evaluating": [2, 2],
        "eval/a": [5],
        "eval/c": [5],
        "no step": [2],
    }
    assert found["eval/c"] == [(5, 3.0)]


def test_a_resumed_script_has_the_values_of_each_step_once(logged: Logged) -> None:
    runtime = instance_runtime()

    def step(value: float) -> None:
        runtime.timer.ask()
        runtime.timer.got(1)
        smtc_lab.log(before=value)
        runtime.timer.end()
        smtc_lab.log({"after": value}, step=1000 * int(value))

    smtc_lab.log(parameters=5)
    for number in range(5):
        step(float(number))
    runtime.timer.num_steps = 0
    runtime.go_on_from(3)
    for number in (3, 4, 5):
        step(float(number))

    found = values_of(logged())
    assert found == {
        "parameters": [(0, 5.0)],
        "before": [(number, float(number)) for number in range(6)],
        "after": [(1000 * number, float(number)) for number in range(6)],
    }
