"""Steps in a copy of this process: what it is told, what it cannot harm, how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import psutil
import pytest
import torch
from torch import distributed

from smtc_lab.compiler.choosing import apart
from smtc_lab.compiler.choosing.apart import StepsApart, tried_apart
from smtc_lab.compiler.eager import EagerStep
from smtc_lab.errors import CompilerError
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.compiler.step import CompiledStep

    Apart = Callable[[Callable[[Any], None]], StepsApart]

LIMIT_S = 120.0
CPU = torch.device("cpu")


def step_of(action: Callable[[Any], None]) -> CompiledStep:
    def train_step(_model: object, _optimizer: object, batch: Any) -> torch.Tensor:
        action(batch)
        return torch.zeros(())

    model = torch.nn.Linear(1, 1)
    return EagerStep(train_step, model, torch.optim.SGD(model.parameters(), lr=0.1))


@pytest.fixture
def steps_apart() -> Iterator[Apart]:
    made = []

    def make(action: Callable[[Any], None]) -> StepsApart:
        made.append(StepsApart(partial(step_of, action)))
        return made[-1]

    yield make
    for steps in made:
        steps.close()
        steps.close()


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


def test_steps_follow_each_other_and_nothing_changes_here(steps_apart: Apart) -> None:
    weights, seen = torch.zeros(3), []

    def learn(batch: Any) -> None:
        weights.add_(batch["x"])
        seen.append(batch["name"])
        if len(seen) == 3:
            raise CompilerError(f"{seen} {weights.tolist()}")

    steps = steps_apart(learn)
    batch = {"x": torch.arange(3.0), "name": "a"}

    assert steps.take(batch, limit_s=LIMIT_S) > 0
    assert steps.take(batch, limit_s=LIMIT_S) > 0
    with pytest.raises(CompilerError, match=r"^\['a', 'a', 'b'\] \[0.0, 3.0, 6.0\]$"):
        steps.take({**batch, "name": "b"}, limit_s=LIMIT_S)
    assert (weights.tolist(), seen) == ([0, 0, 0], [])


def test_a_view_is_sent_without_what_it_is_a_view_of(steps_apart: Apart) -> None:
    def look(batch: torch.Tensor) -> None:
        raise CompilerError(f"{batch.tolist()} {batch.untyped_storage().nbytes()}")

    with pytest.raises(CompilerError, match=r"^\[1.0, 1.0\] 8$"):
        steps_apart(look).take(torch.ones(1000)[:2], limit_s=LIMIT_S)


def test_an_error_of_the_script_is_told_with_its_name(steps_apart: Apart) -> None:
    with pytest.raises(CompilerError, match=r"^ValueError: no such column$"):
        steps_apart(_raise_value_error).take(1, limit_s=LIMIT_S)


def _raise_value_error(_: object) -> None:
    raise ValueError("no such column")


def test_a_batch_that_cannot_be_sent_is_told(steps_apart: Apart) -> None:
    with pytest.raises(CompilerError, match=r"batches cannot be sent .*lambda"):
        steps_apart(print).take(lambda: None, limit_s=LIMIT_S)


def test_a_copy_that_is_killed_is_told(steps_apart: Apart) -> None:
    steps = steps_apart(lambda _: os.kill(os.getpid(), signal.SIGKILL))

    with pytest.raises(CompilerError, match=r"was ended by SIGKILL$"):
        steps.take(1, limit_s=LIMIT_S)


def test_the_last_words_of_a_copy_are_told(steps_apart: Apart) -> None:
    def end(_: object) -> None:
        os.write(2, b"first\nXLA compiled for too long\n")
        os._exit(3)

    with pytest.raises(CompilerError, match=r"with code 3: XLA compiled for too long$"):
        steps_apart(end).take(1, limit_s=LIMIT_S)


def test_a_step_over_its_time_limit_ends_the_copy(steps_apart: Apart) -> None:
    def spin(_: object) -> None:
        while True:
            pass

    before = children()
    steps = steps_apart(spin)
    assert len(children() - before) == 1

    with pytest.raises(CompilerError, match="took longer than 1 s"):
        steps.take(1, limit_s=1)
    steps.close()
    assert children() <= before


def test_what_a_copy_has_started_ends_with_it(steps_apart: Apart, tmp_path: Path) -> None:
    def start_compiler(_: object) -> None:
        compiler = subprocess.Popen(["/bin/sleep", "600"])
        (tmp_path / "pid").write_text(str(compiler.pid))

    steps = steps_apart(start_compiler)
    steps.take(1, limit_s=LIMIT_S)
    pid = int((tmp_path / "pid").read_text())
    assert psutil.pid_exists(pid)

    steps.close()
    wait_until(lambda: not is_running(pid), what="its end")


def test_a_copy_that_waits_for_ever_is_given_up(
    steps_apart: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "IDLE_LIMIT_S", 2.0)

    with pytest.raises(CompilerError, match="has done nothing for 2 s"):
        steps_apart(lambda _: signal.pause()).take(1, limit_s=LIMIT_S)


def test_what_a_copy_prints_and_writes_goes_nowhere(
    steps_apart: Apart, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "log.txt").open("w") as log:
        log.write("of the script\n")

        def speak(_: object) -> None:
            for stream in (sys.stdout, sys.stderr, log):
                print("of the copy", file=stream, flush=True)
            os.write(1, b"of the copy")

        steps_apart(speak).take(1, limit_s=LIMIT_S)

    assert (tmp_path / "log.txt").read_text() == "of the script\n"
    assert "of the copy" not in "".join(capfd.readouterr())


def test_a_copy_computes_with_several_threads_as_its_original_did(steps_apart: Apart) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        big = torch.ones(400, 400)
        big @ big  # the OpenMP threads of this process, which are not copied
        steps = steps_apart(lambda batch: [batch @ batch for _ in range(3)] and None)

        assert steps.take(big, limit_s=LIMIT_S) > 0
    finally:
        torch.set_num_threads(threads)


def test_a_copy_ends_with_its_original(tmp_path: Path) -> None:
    script = (
        "import os, signal, torch\n"
        "from smtc_lab.compiler.choosing.apart import StepsApart\n"
        "def make():\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "    while True: pass\n"
        "StepsApart(make).take(1, limit_s=600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        wait_until(
            lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(),
            what="the copy",
        )
        pid = int((tmp_path / "pid").read_text())
        assert psutil.pid_exists(pid)
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: not psutil.pid_exists(pid), what="its end")


def test_a_copy_is_the_first_to_go_when_memory_runs_out(steps_apart: Apart) -> None:
    before = children()
    steps_apart(print).take(1, limit_s=LIMIT_S)
    (pid,) = children() - before

    with open(f"/proc/{pid}/oom_score_adj") as file:  # noqa: PTH123  a file of the kernel
        assert file.read().strip() == "1000"


def test_a_copy_takes_no_steps_of_a_process_group_or_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PJRT_DEVICE", raising=False)
    assert tried_apart(["xla", "inductor"], CPU, cache=True) == {"xla": 1.0, "inductor": 0.25}
    assert tried_apart(["inductor"], CPU, cache=False) == {"inductor": 1.0}
    assert tried_apart(["inductor"], torch.device("cuda"), cache=True) == {}

    monkeypatch.setenv("PJRT_DEVICE", "TPU")
    assert tried_apart(["xla", "inductor"], CPU, cache=True) == {"inductor": 0.25}

    store = distributed.FileStore(str(tmp_path / "store"), 1)
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        assert tried_apart(["inductor"], CPU, cache=True) == {}
    finally:
        distributed.destroy_process_group()
