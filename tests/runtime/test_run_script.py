"""An unmodified script runs as ``python script.py`` would run it, and is timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.runtime import run_script as run_script_module

if TYPE_CHECKING:
    from tests.runtime.conftest import RunScript

WAYS_TO_END = {
    "pass": 0,
    "raise SystemExit": 0,
    "import sys; sys.exit(0)": 0,
    "import sys; sys.exit(3)": 3,
    "import sys; sys.exit(256 + 3)": 3,
    "import sys; sys.exit(-1)": 255,
    "import sys; sys.exit(True)": 1,
    "import sys; sys.exit('no data found')": 1,
    "import os; os._exit(9)": 9,
    "raise KeyError('missing')": 1,
    "raise KeyboardInterrupt": 1,
    "import nowhere_to_be_found": 1,
    "x = ": 1,
}


@pytest.mark.parametrize("body", WAYS_TO_END)
def test_the_exit_code_is_that_of_the_script(run_script: RunScript, body: str) -> None:
    ended = run_script(body)

    assert ended.exit_code == WAYS_TO_END[body]
    assert (ended.failure is None) == (ended.exit_code in {0, 9})


@pytest.mark.parametrize("body", ["1 / 0", "raise SystemExit(3)", "raise SystemExit('no')"])
def test_why_it_failed_is_kept_before_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    """Who hears of it may end the process at once, as another one had failed before."""
    script = tmp_path / "train.py"
    script.write_text(body, encoding="utf-8")
    kept = tmp_path / "output" / "failure"
    kept.parent.mkdir()
    monkeypatch.setenv("SAGEMAKER_BASE_DIR", str(tmp_path))
    told: list[bool] = []
    monkeypatch.setattr(
        run_script_module, "_say_failed", lambda *_: told.append(bool(kept.read_text()))
    )

    try:
        exec(compile(body, script, "exec"), {})  # noqa: S102  our own line
    except SystemExit as ended:
        run_script_module._exit_code(ended)
    except ZeroDivisionError as error:
        run_script_module._write_failure(error, str(script))

    assert told == [True]


@pytest.mark.parametrize(("end", "code"), [("pass", 0), ("sys.exit(3)", 3), ("1 / 0", 1)])
def test_a_script_with_a_process_group_ends_in_order_and_is_not_taken_apart(
    run_script: RunScript, end: str, code: int
) -> None:
    body = f"""
        import atexit, ctypes, sys, threading
        import torch.distributed as dist

        class Module:
            def __del__(self):
                sys.__stdout__.write("taken apart\\n")

        def outlive():
            threading.main_thread().join()
            print("outlived")

        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        sys.modules["kept"] = Module()  # by the interpreter, to its end
        atexit.register(print, "left")
        threading.Thread(target=outlive).start()
        ctypes.CDLL(None).puts(b"printed by a library")
        {end}
    """
    ended = run_script(body)

    # older releases of torch let gloo print that it is connected
    said = [line for line in ended.printed.splitlines() if not line.startswith("[Gloo]")]
    assert (ended.exit_code, sorted(said)) == (
        code,
        ["left", "outlived", "printed by a library"],
    )


def test_what_a_script_exits_with_is_printed_and_kept_as_the_reason(
    run_script: RunScript,
) -> None:
    ended = run_script("import sys; sys.exit('no data found')")

    assert ended.errors == "no data found\n"
    assert ended.failure == "no data found"


def test_an_exception_is_told_as_python_tells_it(run_script: RunScript) -> None:
    body = """
        def train():
            try:
                {}["lr"]
            except KeyError as error:
                raise ValueError("there is no lr\\nsay one") from error

        train()
    """
    ended = run_script(body)

    assert ended.failure == "ValueError: there is no lr (train.py, line 6)"
    plain = subprocess.run(
        [sys.executable, ended.folder.path.parents[1] / "code" / "train.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.errors == plain.stderr


def test_an_error_in_a_library_names_the_line_of_the_script(run_script: RunScript) -> None:
    ended = run_script("import json\n\njson.loads('{')\n")

    assert ended.failure is not None
    assert ended.failure.startswith("JSONDecodeError: Expecting property name")
    assert ended.failure.endswith("(train.py, line 3)")
    assert "json/decoder.py" in ended.errors


def test_a_syntax_error_names_its_line(run_script: RunScript) -> None:
    ended = run_script("x = 1\ny = \n")

    assert ended.failure is not None
    assert ended.failure.startswith("SyntaxError: invalid syntax (train.py, line 2)")
    assert "y = " in ended.errors
    assert "runpy" not in ended.errors


def test_a_reason_of_any_text_is_kept_within_sagemakers_limit(run_script: RunScript) -> None:
    ended = run_script("raise ValueError('\\ud800' + 'x' * 5_000)")

    assert ended.exit_code == 1
    assert ended.failure is not None
    assert ended.failure.startswith("ValueError: ?xxx")
    assert len(ended.failure) == 1024


def test_a_script_sees_what_python_would_show_it(run_script: RunScript, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "neighbour.py").write_text("ANSWER = 42", encoding="utf-8")
    body = """
        import json, sys
        import neighbour

        class Sample:
            pass

        print(json.dumps({
            "name": __name__,
            "file": __file__,
            "argv": sys.argv,
            "path": sys.path[0],
            "answer": neighbour.ANSWER,
            "main": sys.modules["__main__"].Sample is Sample,
            "heavy": sorted({"torch", "numpy", "pydantic", "apsw"} & set(sys.modules)),
        }))
    """
    ended = run_script(body, "--lr", "0.1", "a b")

    script = str(tmp_path / "code" / "train.py")
    assert ended.exit_code == 0, ended.errors
    assert json.loads(ended.printed) == {
        "name": "__main__",
        "file": script,
        "argv": [script, "--lr", "0.1", "a b"],
        "path": str(tmp_path / "code"),
        "answer": 42,
        "main": True,
        "heavy": [],
    }


def test_the_hosts_of_a_job_resolve_without_a_hosts_file_of_its_own(
    run_script: RunScript,
) -> None:
    body = """
        import socket
        print(socket.gethostbyname("algo-2"), socket.gethostbyname("127.0.0.1"))
        print(socket.getaddrinfo("algo-2", 80, type=socket.SOCK_STREAM)[0][4][0])
        print(socket.getaddrinfo(b"algo-2", 80, type=socket.SOCK_STREAM)[0][4][0])
    """
    ended = run_script(body, SMTC_HOSTS=json.dumps({"algo-2": "127.99.1.2"}))

    assert ended.printed.split() == ["127.99.1.2", "127.0.0.1", "127.99.1.2", "127.99.1.2"]


def test_records_that_could_not_be_kept_fail_a_script_that_went_well(
    run_script: RunScript,
) -> None:
    body = """
        from smtc_lab.metrics.records.records import EventRecord
        from smtc_lab.runtime.instance_runtime import instance_runtime
        instance_runtime().record(EventRecord(time_s="now", kind={}, host="", message=""))
    """
    ended = run_script(body)

    assert ended.exit_code == 1
    assert ended.failure is not None
    assert "StoreError: 1 records could not be written" in ended.failure


def test_an_event_of_any_text_is_kept_and_printed(run_script: RunScript) -> None:
    body = """
        from smtc_lab.runtime.instance_runtime import instance_runtime
        instance_runtime().event("data", "caf\\u00e9 \\ud800")
    """
    ended = run_script(body)

    assert ended.exit_code == 0, ended.errors
    assert ended.printed == "smtc-lab: caf\u00e9 ?\n"
    assert [event.message for event in ended.events] == ["caf\u00e9 ?"]


TWO_OPTIMIZERS = """
    import argparse
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int)
    options = parser.parse_args()
    train = DataLoader(TensorDataset(torch.ones(10, 2)), batch_size=4)
    validate = DataLoader(TensorDataset(torch.ones(64, 2)), batch_size=64)
    models = [torch.nn.Linear(2, 1) for _ in range(2)]
    generator, critic = (torch.optim.SGD(model.parameters(), lr=0.1) for model in models)
    for epoch in range(options.epochs):
        for (batch,) in train:
            for model, optimizer in zip(models, (generator, critic)):
                optimizer.zero_grad()
                model(batch).sum().backward()
                optimizer.step()
        for (batch,) in validate:
            models[0](batch)
    print("seed", torch.initial_seed())
"""


SEEDS = """
    import random, torch
    seed = torch.initial_seed()
    print(seed, random.random() == random.Random(seed).random())
"""


@pytest.mark.parametrize(
    ("environment", "printed"),
    [
        ({}, "0 False"),  # names that are drawn differ from launch to launch
        ({"SMTC_SEED": "5"}, "5 True"),
        ({"SMTC_PARITY_STEPS": "2"}, "0 True"),
        ({"SMTC_FINGERPRINTS": "1"}, "0 True"),
    ],
)
def test_random_is_seeded_where_it_was_asked_for_or_weights_are_compared(
    environment: dict[str, str], printed: str, run_script: RunScript
) -> None:
    ended = run_script(SEEDS, **environment)

    assert ended.printed == f"{printed}\n", ended.errors


def test_the_steps_of_the_first_optimizer_and_the_waits_of_its_batches_are_recorded(
    run_script: RunScript,
) -> None:
    ended = run_script(TWO_OPTIMIZERS, "--epochs", "2", SMTC_SEED="11")

    assert ended.exit_code == 0, ended.errors
    assert ended.printed == "seed 11\n"
    assert [step.step for step in ended.steps] == list(range(6))
    assert [step.num_samples for step in ended.steps] == [4, 4, 2, 4, 4, 2]
    assert all(0 < step.data_wait_s <= step.step_time_s for step in ended.steps)
    ends_s = [step.end_time_s for step in ended.steps]
    assert ends_s == sorted(ends_s)


def test_a_loop_without_a_dataloader_is_timed_and_ends_at_max_steps(
    run_warm: RunScript,
) -> None:
    body = """
        import gc
        import torch

        def optimizer():
            weight = torch.nn.Parameter(torch.ones(2))
            weight.grad = torch.ones(2)
            return torch.optim.SGD([weight], lr=0.1)

        try:
            optimizer().step()  # a trial; the real one comes now
            gc.collect()
            real = optimizer()
            while True:
                real.step()
        finally:
            print("tidied up")
    """
    ended = run_warm(body, SMTC_MAX_STEPS="5", SMTC_DEVICE_STEP_TIME_S="0.01")

    assert ended.printed == "tidied up\n"
    assert ended.failure is None
    assert len(ended.steps) == 5
    assert all(step.step_time_s >= 0.01 for step in ended.steps)
    assert {(step.num_samples, step.data_wait_s) for step in ended.steps} == {(None, 0.0)}


def test_an_error_between_batches_and_steps_hides_our_frames(run_warm: RunScript) -> None:
    body = """
        import torch
        from torch.utils.data import DataLoader

        class Poisoned:
            def __len__(self):
                return 4

            def __getitem__(self, index):
                if index == 3:
                    raise ValueError("a rotten sample")
                return torch.ones(1)

        for batch in DataLoader(Poisoned(), batch_size=2):
            pass
    """
    ended = run_warm(body, code=1)

    assert ended.failure == "ValueError: a rotten sample (train.py, line 11)"
    assert 'raise ValueError("a rotten sample")' in ended.errors
    assert "script_hooks" not in ended.errors
    assert "runpy" not in ended.errors
    assert ended.steps == []


def test_the_files_whose_frames_are_left_out_are_there() -> None:
    folder = Path(run_script_module.__file__).parent

    assert [
        name for name in run_script_module._OWN_FILES if not (folder / name).is_file()
    ] == []


def test_the_first_cause_of_a_failure_is_its_reason(run_warm: RunScript) -> None:
    ended = run_warm(
        """
        import threading
        import torch

        found = {}

        def read():
            raise ValueError("signal only works in main thread")

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        found["eval_loss"]
        """,
        code=1,
    )

    assert ended.failure.startswith("ValueError: signal only works in main thread (")
    assert "in a thread; then KeyError: 'eval_loss'" in ended.failure


def test_a_script_that_needs_no_typing_starts_without_it() -> None:
    loaded = "import sys, smtc_lab.runtime.run_script; print('typing' in sys.modules)"
    before = "import sys; print('typing' in sys.modules)"

    of_python, ours = (
        subprocess.check_output([sys.executable, "-c", each], text=True)
        for each in (before, loaded)
    )

    assert ours == of_python


@pytest.mark.parametrize("uses_gpu", [False, True])
def test_a_step_tells_that_a_gpu_was_not_waited_for(
    run_warm: RunScript, *, uses_gpu: bool
) -> None:
    body = f"""
        import torch

        torch.cuda.is_initialized = lambda: {uses_gpu}  # in place of a GPU
        weight = torch.nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for batch in torch.utils.data.DataLoader(torch.ones(6, 1), batch_size=2):
            (batch * weight).sum().backward()
            optimizer.step()
    """
    ended = run_warm(body)

    assert [step.synchronized for step in ended.steps] == [not uses_gpu] * 3
