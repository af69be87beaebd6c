"""Steps in a child that has started the script anew: what it is told, and how it ends.

The other environment is this one: what is tested here is the same in any.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pytest
import torch

import smtc_lab
from smtc_lab.errors import CompilerError
from smtc_lab.machine.environments.xla_environment import XlaEnvironment
from smtc_lab.runtime.elsewhere.started import Started
from smtc_lab.runtime.elsewhere.steps import StepsElsewhere
from smtc_lab.spec.compiler import TrainingCompilerConfig
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[..., StepsElsewhere]

LIMIT_S = 120.0
SCRIPT = """
    import json, os, sys
    from pathlib import Path
    import torch
    import smtc_lab as lab

    session = lab.Session()
    Path(os.environ["SM_OUTPUT_DATA_DIR"], "begun").touch()
    session.save_checkpoint(step=0, weights=torch.zeros(1))
    told = {name: os.environ.get(name) for name in ("SMTC_DATA_HOSTS", "SM_HPS")}
    print("a word", file=sys.stderr)

    def train_step(model, optimizer, batch):
        if batch == "what is known":
            raise lab.errors.CompilerError(json.dumps({**told, "arguments": sys.argv[1:]}))
        if batch == "end":
            sys.exit("the last word")
        if batch == "fail":
            raise ValueError("a rotten batch")
        if "say" in str(batch):
            raise lab.errors.CompilerError(f"{type(batch).__name__} {batch!r}")
        return torch.zeros(())

    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = session.compile(train_step, model, optimizer)
    class Endless(torch.utils.data.IterableDataset):
        def __iter__(self):
            raise AssertionError("the script's own data is not touched")
    for batch in session.steps(torch.utils.data.DataLoader(Endless())):
        step(batch)
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in ("input", "output/data", "model"):
        (tmp_path / "ml" / name).mkdir(parents=True)
    return tmp_path / "ml"


@pytest.fixture
def elsewhere(tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Return a function that makes steps of a script; all of them end with the test."""
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(base))
    monkeypatch.setenv("SM_OUTPUT_DATA_DIR", str(base / "output" / "data"))
    monkeypatch.setenv("SM_HPS", '{"lr": 1}')
    monkeypatch.setenv("SMTC_DATA_HOSTS", '["algo-2"]')
    monkeypatch.chdir(tmp_path)
    made = []

    def make(body: str = SCRIPT, started: Any = lambda *_: None) -> StepsElsewhere:
        script = tmp_path / "train.py"
        script.write_text(textwrap.dedent(body), encoding="utf-8")
        config = TrainingCompilerConfig(backend="eager", keep_memory=False)
        made.append(
            StepsElsewhere(
                XlaEnvironment(
                    python=sys.executable, path=str(Path(smtc_lab.__file__).parents[1])
                ),
                Started(str(script), ["--lr", "1"]),
                settings=config.model_dump_json(),
                started=started,
            )
        )
        return made[-1]

    yield make
    for steps in made:
        steps.close()
        steps.close()


@pytest.fixture(autouse=True)
def children_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know what earlier tests of this process have left behind; a zombie, say."""
    monkeypatch.setattr(BEFORE, "children", psutil.Process().children(recursive=True))


BEFORE = SimpleNamespace(children=[])


def children() -> list[psutil.Process]:
    """Return the processes that the test has started, and that are there."""
    found = psutil.Process().children(recursive=True)
    return [process for process in found if process not in BEFORE.children]


Pair = namedtuple("Pair", "say what")  # noqa: PYI024  a batch as scripts make them


def test_a_child_takes_steps_on_batches_and_touches_nothing_of_the_run(
    elsewhere: Make, base: Path
) -> None:
    starts: list[tuple[float, str]] = []
    before = sorted(base.rglob("*"))
    steps = elsewhere(started=lambda *start: starts.append(start))
    assert children() == []

    assert 0 < steps.take(torch.ones(2), limit_s=LIMIT_S) < LIMIT_S
    with pytest.raises(CompilerError) as told:
        steps.take("what is known", limit_s=LIMIT_S)
    with pytest.raises(CompilerError, match=r"^ValueError: a rotten batch$"):
        steps.take("fail", limit_s=LIMIT_S)
    steps.take([1.5], limit_s=LIMIT_S)  # it goes on after a step that failed
    steps.close()

    known = json.loads(str(told.value))
    assert known == {
        "SMTC_DATA_HOSTS": None,
        "SM_HPS": '{"lr": 1}',
        "arguments": ["--lr", "1"],
    }
    ((start_s, place),) = starts
    assert start_s > 0
    assert place == f"XLA's environment (torch {torch.__version__.partition('+')[0]})"
    assert sorted(base.rglob("*")) == before
    assert children() == []


def test_batches_of_many_kinds_arrive_as_they_were(elsewhere: Make) -> None:
    steps = elsewhere()
    parts = {
        "say": torch.arange(6).view(2, 3).t(),
        "half": torch.tensor([1.5], dtype=torch.bfloat16),
        "array": np.array([[True, False]]),
        "words": ["a", ("b", None, 2.5, b"c")],
    }

    for batch in (parts, Pair("say", torch.ones(1))):
        with pytest.raises(CompilerError) as told:
            steps.take(batch, limit_s=LIMIT_S)
        assert str(told.value) == f"{type(batch).__name__} {batch!r}"


def test_what_cannot_be_sent_is_told_and_starts_nothing(elsewhere: Make) -> None:
    steps = elsewhere()

    with pytest.raises(
        CompilerError, match=r"cannot be sent to its environment: The batch holds a .*Linear"
    ):
        steps.take({"x": torch.nn.Linear(1, 1)}, limit_s=LIMIT_S)

    assert children() == []


@pytest.mark.parametrize(
    ("body", "how"),
    [
        ("raise ValueError('no such file')", "with code 1: ValueError: no such file"),
        ("print('done')", "with code 0: done"),
        ("import os; os.kill(os.getpid(), 9)", "by SIGKILL"),
    ],
)
def test_a_script_that_does_not_come_to_its_first_step_is_told(
    elsewhere: Make, body: str, how: str
) -> None:
    with pytest.raises(CompilerError, match=rf"was ended {how}$"):
        elsewhere(body).take(1, limit_s=LIMIT_S)


def test_a_step_that_ends_its_process_is_told_by_its_last_words(elsewhere: Make) -> None:
    with pytest.raises(CompilerError, match="with code 1: SystemExit: the last word"):
        elsewhere().take("end", limit_s=LIMIT_S)


def test_a_script_that_starts_for_too_long_is_ended(elsewhere: Make) -> None:
    steps = elsewhere("while True: pass")

    with pytest.raises(CompilerError, match="took longer than 1 s"):
        steps.take(1, limit_s=1.0)
    steps.close()

    assert children() == []


def test_a_child_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    root = str(Path(smtc_lab.__file__).parents[1])
    (tmp_path / "train.py").write_text(
        f"open({str(tmp_path / 'pid')!r}, 'x').write(str(__import__('os').getpid()))\n"
        "__import__('signal').pause()\n"
    )
    parent = f"""
        from smtc_lab.machine.environments.xla_environment import XlaEnvironment
        from smtc_lab.runtime.elsewhere.started import Started
        from smtc_lab.runtime.elsewhere.steps import StepsElsewhere
        there = XlaEnvironment(python={sys.executable!r}, path={root!r})
        start = Started({str(tmp_path / "train.py")!r}, [])
        steps = StepsElsewhere(there, start, settings="{{}}", started=print)
        steps.take(1, limit_s=100)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(parent)],
        env={**os.environ, "PYTHONPATH": root},
        cwd=tmp_path,
    )
    pid_file = tmp_path / "pid"
    wait_until(lambda: pid_file.exists() and pid_file.read_text(), what="the child", limit_s=60)
    child = int(pid_file.read_text())

    process.send_signal(signal.SIGKILL)
    process.wait()

    wait_until(lambda: not psutil.pid_exists(child), what="the end of the child", limit_s=10)
