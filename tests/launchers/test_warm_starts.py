"""Processes that are forked in place of being started are as those that are started."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.machine.processes import descendants, processes_with_variable
from tests.kit.runs import command_of, processes_of
from tests.kit.warm_starts.plugin import started_warm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.launchers.run import Run

LIMIT_S = 60

TELLS = """
    import json, os, resource, signal, sys, threading

    print(json.dumps({
        "arguments": sys.argv,
        "path": sys.path,
        "beside": os.path.relpath(sys.path[0], os.path.dirname(os.path.abspath(sys.argv[0]))),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "group": os.getpgid(0) == os.getpid(),
        "session": os.getsid(0) == os.getpid(),
        "signals": {int(each): str(signal.getsignal(each)) for each in signal.valid_signals()},
        "umask": os.umask(0o77),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "cores": sorted(os.sched_getaffinity(0)),
        "descriptors": sorted(
            int(each)
            for each in os.listdir("/proc/self/fd")
            if os.path.exists(f"/proc/self/fd/{each}")
        ),
        "streams": [
            (each.encoding, each.errors, each.line_buffering, each.write_through, each.name)
            for each in (sys.stdin, sys.stdout, sys.stderr)
        ],
        "has_torch": "torch" in sys.modules,
        "main": sys.modules["__main__"].__name__,
        "threads": threading.active_count(),
    }))
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], list[str]]:
    """Return a function that makes the command of a script, as an agent has it."""

    def make(body: str) -> list[str]:
        path = tmp_path / "train.py"
        body = f"# one that may import torch\n{textwrap.dedent(body)}"
        path.write_text(body, encoding="utf-8")
        return [sys.executable, "-m", "smtc_lab.runtime.run_script", str(path)]

    return make


@pytest.fixture
def both(request: pytest.FixtureRequest) -> Callable[..., tuple[Any, Any]]:
    """Return a function that starts something warm, and as a user does."""
    if not started_warm(request.config):
        pytest.skip("nothing starts warm here")

    def run(command: list[str], **values: Any) -> tuple[Any, Any]:
        options = {"capture_output": True, "text": True, "timeout": LIMIT_S}
        warm = subprocess.run(command, check=False, **{**options, **values})
        # a command that does not begin with this interpreter is started as it is
        cold = subprocess.run(["env", *command], check=False, **{**options, **values})
        return warm, cold

    return run


@pytest.fixture
def warm(script: Callable[[str], list[str]]) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a script warm; it is ended with the test."""
    with contextlib.ExitStack() as stack:

        def begin(body: str, **values: Any) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                script(body), stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, **values
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield begin


def test_it_sees_what_a_started_one_sees(
    both: Callable[..., tuple[Any, Any]],
    script: Callable[[str], list[str]],
    tmp_path: Path,
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    read, write = os.pipe()
    environment = {**os.environ, "SMTC_TEST": "one=1 ä", "PYTHONUNBUFFERED": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), "", *sys.path[1:3]])

    warm, cold = both(
        [*script(TELLS), "--one", "two words"],
        cwd=folder,
        env=environment,
        pass_fds=[write],
        start_new_session=True,
    )
    os.close(read)
    os.close(write)

    assert warm.returncode == cold.returncode == 0, warm.stderr + cold.stderr
    of_warm, of_cold = json.loads(warm.stdout), json.loads(cold.stdout)
    of_cold["environment"].pop("_", None)
    of_warm["environment"].pop("_", None)
    assert of_warm == of_cold
    assert not of_warm["has_torch"]
    assert of_warm["folder"] == str(folder)


@pytest.mark.parametrize(
    "body",
    [
        "raise SystemExit(3)",
        "raise SystemExit('the disk is full')",
        "import os; os.kill(os.getpid(), 9)",
        "import os; os._exit(7)",
        "def train():\n    raise ValueError('of the script')\ntrain()",
        "import atexit, sys; atexit.register(print, 'at exit'); sys.stdout.write('no line')",
        "import threading; threading.Thread(target=lambda: print('of a thread')).start()",
        "import sys; print(sys.stdin.read()); print('error', file=sys.stderr)",
    ],
)
def test_it_ends_as_a_started_one(
    both: Callable[..., tuple[Any, Any]], script: Callable[[str], list[str]], body: str
) -> None:
    warm, cold = both(script(body), input="told\n")

    assert (warm.returncode, warm.stdout) == (cold.returncode, cold.stdout)
    assert warm.stderr == cold.stderr


def test_a_module_that_is_not_there_is_told_as_ever(
    both: Callable[..., tuple[Any, Any]],
) -> None:
    warm, cold = both([sys.executable, "-m", "smtc_lab.no_such_module", "asked"])

    assert (warm.returncode, warm.stderr) == (cold.returncode, cold.stderr)
    assert warm.returncode == 1


def test_torch_is_there_when_it_is_imported_and_what_it_brings(
    both: Callable[..., tuple[Any, Any]], script: Callable[[str], list[str]]
) -> None:
    body = """
        import random, sys
        before = {name for name in sys.modules if name.partition(".")[0] in ("torch", "numpy")}
        import torch
        print(sorted(before), torch.get_num_threads(), torch.initial_seed())
        print(sorted(n for n in sys.modules if n.partition(".")[0] in ("torch", "numpy")))
        print(torch.randn(2).tolist(), torch.__spec__.name, torch.__spec__.loader.__class__)
    """

    warm, cold = both(script(body), env={**os.environ, "OMP_NUM_THREADS": "2"})

    assert warm.returncode == 0, warm.stderr
    assert warm.stdout.splitlines()[::2] == cold.stdout.splitlines()[::2]
    missing = set(json.loads(_line(cold, 1))) - set(json.loads(_line(warm, 1)))
    assert missing == set()


def _line(ended: Any, number: int) -> str:
    return str(ended.stdout.splitlines()[number]).replace("'", '"')


def test_modules_beside_the_script_come_first(
    both: Callable[..., tuple[Any, Any]], script: Callable[[str], list[str]], tmp_path: Path
) -> None:
    (tmp_path / "psutil.py").write_text("print('of the script')\n", encoding="utf-8")

    warm, cold = both(script("import psutil\nprint(psutil.__file__)\n"))

    assert warm.stdout == cold.stdout
    assert "of the script" in warm.stdout


def test_each_draws_random_numbers_of_its_own(
    both: Callable[..., tuple[Any, Any]], script: Callable[[str], list[str]]
) -> None:
    command = script("import random, numpy; print(random.random(), numpy.random.rand())")

    said = {word for _ in range(2) for ended in both(command) for word in ended.stdout.split()}

    assert len(said) == 8


def test_it_hears_signals_and_says_so(warm: Callable[..., subprocess.Popen[str]]) -> None:
    process = warm("""
        import signal, sys
        signal.signal(signal.SIGUSR1, lambda *_: print("heard", flush=True))
        print("ready", flush=True)
        while True:
            signal.pause()
    """)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    process.send_signal(signal.SIGUSR1)
    assert process.stdout.readline() == "heard\n"
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.05)
    process.terminate()

    assert process.wait(LIMIT_S) == -signal.SIGTERM
    assert process.poll() == -signal.SIGTERM


def test_an_interrupt_is_heard_as_python_hears_it(
    warm: Callable[..., subprocess.Popen[str]],
) -> None:
    process = warm("""
        import signal
        print("ready", flush=True)
        signal.pause()
    """)
    assert process.stdout is not None
    process.stdout.readline()

    process.send_signal(signal.SIGINT)

    assert process.wait(LIMIT_S) == 1  # as run_script ends a script of which it is the reason


def test_proc_shows_its_command_and_its_variables(
    warm: Callable[..., subprocess.Popen[str]],
) -> None:
    mark = f"of {os.getpid()} at {time.monotonic_ns()}"
    process = warm(
        "import sys; print(sys.argv, flush=True); input()",
        env={**os.environ, "SMTC_TEST_MARK": mark},
    )
    assert process.stdout is not None
    process.stdout.readline()

    assert processes_with_variable("SMTC_TEST_MARK", mark) == {process.pid: mark}
    assert command_of(process.pid).split() == process.args
    process.communicate("\n")
    assert process.returncode == 0


def test_what_it_starts_is_its_child_and_set_up_before_it_goes_on(
    warm: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    inner = tmp_path / "inner.py"
    inner.write_text("import os; print(os.getppid(), os.environ['OF'])\n", encoding="utf-8")
    process = warm(f"""
        import os, subprocess, sys
        ready = []
        child = subprocess.Popen(
            [sys.executable, "-m", "smtc_lab.runtime.run_script", {str(inner)!r}],
            stdout=subprocess.PIPE, text=True, env={{**os.environ, "OF": "its own"}},
            preexec_fn=lambda: os.nice(1),
        )
        print(os.getpriority(os.PRIO_PROCESS, child.pid) in (1, os.getpriority(0, 0) + 1))
        print(child.communicate()[0].split() == [str(os.getpid()), "its", "own"])
        try:
            subprocess.Popen(
                [sys.executable, "-m", "smtc_lab.runtime.run_script", {str(inner)!r}],
                preexec_fn=lambda: 1 / 0,
            )
        except subprocess.SubprocessError:
            print("told")
    """)

    said, _ = process.communicate()

    assert said.split() == ["True", "True", "told"]


def test_a_limit_of_this_process_holds_for_it(
    both: Callable[..., tuple[Any, Any]], script: Callable[[str], list[str]]
) -> None:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, before[1]))
    try:
        body = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))"
        warm, cold = both(script(body))
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)

    assert warm.stdout == cold.stdout == f"(0, {before[1]})\n"


def test_a_variable_that_is_read_at_import_starts_it_anew(
    script: Callable[[str], list[str]],
) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "7"}

    ended = subprocess.run(
        script("import sys; print(sys.flags.hash_randomization, hash('a'))"),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    plain = subprocess.run(
        [sys.executable, "-c", "print(hash('a'))"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert ended.stdout.split()[1] == plain.stdout.strip()


def test_what_customizes_python_starts_it_anew(
    both: Callable[..., tuple[Any, Any]], script: Callable[[str], list[str]], tmp_path: Path
) -> None:
    image = tmp_path / "image"
    image.mkdir()
    (image / "sitecustomize.py").write_text("print('customized')\n", encoding="utf-8")
    path = os.pathsep.join([str(image), *filter(None, [os.environ.get("PYTHONPATH")])])

    warm, cold = both(script("pass"), env={**os.environ, "PYTHONPATH": path})

    assert warm.stdout == cold.stdout == "customized\n"


def test_the_trainer_of_a_launch_is_warm_and_nothing_of_it_is_left(
    request: pytest.FixtureRequest,
    start: Callable[..., Run],
    make_job: Callable[..., Any],
    tmp_path: Path,
) -> None:
    if not started_warm(request.config):
        pytest.skip("nothing starts warm here")
    found = tmp_path / "finders"
    run = start(
        make_job(f"""
            import pathlib, sys, torch

            names = [type(each).__name__ for each in sys.meta_path]
            pathlib.Path({str(found)!r}).write_text(str(names))
        """)
    )

    assert run.wait(timeout_s=LIMIT_S).status == "Completed"
    assert "Parking" in found.read_text(encoding="utf-8")
    assert processes_of(run.folder.path) == {}


PYTEST = """
    import os, subprocess, sys
    from tests.kit.warm_starts.asking import WarmStarts

    starts = WarmStarts(ahead=[])
    command = [sys.executable, "-m", "smtc_lab.runtime.run_script", sys.argv[1]]
    subprocess.run(command, check=True)
    print(starts.server_pid, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["kill", "close"])
def test_the_server_ends_with_who_started_it(tmp_path: Path, end: str) -> None:
    quick = tmp_path / "quick.py"
    quick.write_text("# no torch\n", encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PYTEST), quick],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as asking:
        assert asking.stdout is not None
        assert asking.stdin is not None
        server = int(asking.stdout.readline())
        ended = os.pidfd_open(server)
        assert server in descendants(asking.pid)
        if end == "kill":
            asking.kill()
        else:
            asking.stdin.close()
        try:
            assert select.select([ended], [], [], LIMIT_S)[0]
        finally:
            os.close(ended)
