"""Runs an entry point as ``python script.py`` would, timed, with its failure written down.

Started as ``python -m smtc_lab.runtime.run_script <script> [arguments]`` by the agent.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from contextlib import suppress

from smtc_lab.instance.variables import (
    FAILED_WORD,
    LONE_TRAINER_VARIABLE,
    PROGRESS_VARIABLE,
    READY_VARIABLE,
    ROLE_VARIABLE,
    RUNS_VARIABLE,
    STACKS_SIGNAL,
    WORKING_FOLDER_VARIABLE,
)
from smtc_lab.runtime.script.after_import import after_import
from smtc_lab.runtime.script.host_names import resolve_hosts
from smtc_lab.runtime.script.quick_start import start_quickly

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every start
    import traceback
    from typing import Any, NoReturn

_OWN_FILES = (
    "instance_runtime.py",
    "measured_loader.py",
    "own_metrics/captured.py",
    "own_metrics/metric_log.py",
    "ranks/rendezvous.py",
    "run_script.py",
    "script/after_import.py",
    "script/backward.py",
    "script/compiler.py",
    "script/communication.py",
    "script/exchange.py",
    "script/hooks.py",
    "script/own_ranks.py",
    "script/quick_start.py",
    "script/watch.py",
    "script/xla.py",
    "session.py",
    "starting/ahead.py",
    "starting/forked_trainers.py",
)
"""Files whose frames tell a reader of a traceback nothing."""


def main(script: str, arguments: list[str]) -> int:
    """Run a script and return its exit code; 1 also when its records could not be kept."""
    code = _run(script, arguments)
    _let_it_end()
    try:
        if (runtime := _runtime()) is not None:
            runtime.end()
    except Exception as error:  # noqa: BLE001  whatever it is, the run must not pass for a success
        if code == 0:
            _write_failure(error, script)
        return code or 1
    # Taking torch apart takes more than a second, in which the whole cluster is billed. Threads
    # of gloo may abort a process whose interpreter goes down (pytorch#179291), and a job that
    # has done its work would count as failed.
    if (code == 0 and os.environ.get(ROLE_VARIABLE) == "data") or _has_met_others():
        _leave_at_once(code)
    return code


def _has_met_others() -> bool:
    """Return whether this process may have made a process group."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available():
        return False
    return distributed.is_initialized() or os.environ.get("WORLD_SIZE", "1") != "1"


def _let_it_end() -> None:
    """Do what an interpreter does after a script's last line; steps count until then.

    It waits for threads that are no daemons, and calls what was registered for the exit.
    """
    if (threading := sys.modules.get("threading")) is not None:
        threading._shutdown()  # noqa: SLF001  there is no other way
    if (runtime := _runtime()) is not None:  # its records are closed last, and not in silence
        atexit.unregister(runtime.close)
    atexit._run_exitfuncs()  # noqa: SLF001  as above


def _leave_at_once(code: int) -> NoReturn:
    """End this process, whose exit handlers have run, without taking modules apart."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # the script has closed it
            stream.flush()
    import ctypes  # noqa: PLC0415  torch has imported it

    ctypes.CDLL(None).fflush(None)  # what libraries of the script have printed
    os._exit(code)


def _run(script: str, arguments: list[str]) -> int:
    with suppress(OSError):  # as it was when it is not there
        os.chdir(os.environ.get(WORKING_FOLDER_VARIABLE) or ".")
    if os.environ.get(LONE_TRAINER_VARIABLE) == "1":
        os.environ[LONE_TRAINER_VARIABLE] = str(os.getpid())
    resolve_hosts()
    _write_stacks_when_asked()
    sys.argv = [script, *arguments]
    look_beside(script)
    code = 0
    try:
        if os.environ.get(ROLE_VARIABLE) == "data" and RUNS_VARIABLE not in os.environ:
            _serve()
            return 0
        if "torch" in sys.modules:  # imported ahead, for all trainers of the instance
            _install_hooks()
        else:
            start_quickly()
            after_import("torch", _install_hooks)
        _execute(script)
    except SystemExit as ended:
        code = _exit_code(ended)
    except BaseException as error:  # noqa: BLE001  whatever ends the script is written down
        _write_failure(error, script)
        code = 1
    return 0 if _is_over() else code


def _runtime() -> Any:  # noqa: ANN401  without its import
    """Return the runtime of this process; None: the script has needed none."""
    module: Any = sys.modules.get("smtc_lab.runtime.instance_runtime")
    is_made = module is not None and module.instance_runtime.cache_info().currsize
    return module.instance_runtime() if is_made else None


def _is_over() -> bool:
    """Return whether the job's last step was taken: how the script ends counts no more."""
    return getattr(_runtime(), "is_over", False)


def _execute(script: str) -> None:
    """Run a script as ``__main__``, which its module stays until the process ends."""
    module = type(sys)("__main__")
    module.__dict__.update(__file__=script, __builtins__=__builtins__, __cached__=None)
    with open(script, "rb") as file:  # noqa: PTH123  pathlib costs the start 10 ms
        code = compile(file.read(), script, "exec", dont_inherit=True)
    _run_as.append(sys.modules["__main__"])  # its functions are still running
    sys.modules["__main__"] = module
    exec(code, module.__dict__)  # noqa: S102  the job's own script


_run_as: list[object] = []
"""What was ``__main__`` before."""


def look_beside(script: str) -> None:
    """Have modules looked for beside the script first, as ``python script.py`` has it."""
    sys.path[0] = os.path.dirname(os.path.abspath(script))  # noqa: PTH100, PTH120  pathlib costs the start 10 ms


def _serve() -> None:
    """Serve the trainers' dataloaders; a data instance runs no line of the script."""
    import signal  # noqa: PLC0415  a trainer does without

    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # the trainers end before it serves
    start_quickly()
    from smtc_lab.runtime.data_instance import serve_until_stopped  # noqa: PLC0415  needs torch
    from smtc_lab.runtime.instance_runtime import instance_runtime  # noqa: PLC0415  as above

    serve_until_stopped(instance_runtime())


def _install_hooks() -> None:
    from smtc_lab.runtime.script.hooks import install_hooks  # noqa: PLC0415  a script without torch pays nothing

    install_hooks()


def _exit_code(ended: SystemExit) -> int:
    if ended.code is None:
        return 0
    failed_ns = time.monotonic_ns()
    if isinstance(ended.code, int):
        if ended.code:
            # only a failure needs them
            from smtc_lab.runtime.script.last_lines import last_lines_said  # noqa: PLC0415
            from smtc_lab.store.said import lines_sentence  # noqa: PLC0415

            said = lines_sentence(last_lines_said(), "of its log")
            _failure_file_text(f"SystemExit: {ended.code}{said and f'. {said}'}")
            _say_failed(ended.code & 0xFF, failed_ns)
        return ended.code & 0xFF  # what the system keeps of it
    _failure_file_text(str(ended.code))
    _say_failed(1, failed_ns)
    print(ended.code, file=sys.stderr)  # noqa: T201  as python does
    return 1


def _write_failure(error: BaseException, script: str) -> None:
    """Print the traceback without our own frames, and keep its essence for the run's state."""
    failed_ns = time.monotonic_ns()
    reason = _reason(error, script)
    module = sys.modules.get("smtc_lab.runtime.script.first_failure")
    first = None if module is None else module.first_failure()
    if first is not None and first is not error:  # its traceback was printed when it came
        reason = f"{_reason(first, script)}, in a thread; then {reason}"
    # before it is told: whoever hears of an earlier failure ends this process, too
    _failure_file_text(reason)
    _say_failed(1, failed_ns)
    sys.stderr.writelines(_told(error)[0].format())
    sys.stderr.flush()


def _told(
    error: BaseException,
) -> tuple[traceback.TracebackException, list[traceback.FrameSummary]]:
    """Return what a traceback says without our own frames, and its frames."""
    import traceback  # noqa: PLC0415  only a failure needs it

    told = traceback.TracebackException.from_exception(error)
    if type(error).__name__ == "CompilerError":  # its message holds what the compiler said
        told.__cause__ = told.__context__ = None
    return told, _without_own_frames(told)


def _reason(error: BaseException, script: str) -> str:
    """Return an error's essence in one line, with the line of the script."""
    _, frames = _told(error)
    first_line = next((line for line in str(error).splitlines() if line.strip()), "").strip()
    folder = os.path.dirname(os.path.abspath(script)) + os.sep  # noqa: PTH100, PTH120  as above
    theirs = [
        frame
        for frame in frames
        if frame.filename.startswith(folder) and "site-packages" not in frame.filename
    ]
    # where its own lines are, the message says: in the log of who prepared it
    at = "asked for at " if type(error).__name__ == "SampleError" else ""
    where = ""
    for frame in (theirs or frames)[-1:]:
        where = f" ({at}{os.path.basename(frame.filename)}, line {frame.lineno})"  # noqa: PTH119  as above
    return f"{type(error).__name__}: {first_line}{where}"


def _without_own_frames(told: traceback.TracebackException) -> list[traceback.FrameSummary]:
    """Take our own frames out of an error and what it was raised from; return its frames."""
    here = os.path.dirname(__file__)  # noqa: PTH120  as above
    own = {os.path.join(here, name) for name in _OWN_FILES}  # noqa: PTH118  as above
    own |= {"<frozen runpy>"}
    compiler = os.path.join(os.path.dirname(here), "compiler", "")  # noqa: PTH118, PTH120  as above
    link: traceback.TracebackException | None = told
    while link is not None:
        link.stack[:] = [
            frame
            for frame in link.stack
            if frame.filename not in own and not frame.filename.startswith(compiler)
        ]
        link = link.__cause__ or link.__context__
    return list(told.stack)


def _say_failed(code: int, failed_ns: int) -> None:
    """Tell the agent when it failed: of several trainers the first to fail is named."""
    if descriptor := os.environ.get(READY_VARIABLE):
        with suppress(OSError):  # nobody listens any more
            os.write(int(descriptor), f"{FAILED_WORD} {failed_ns} {code}\n".encode())


def _write_stacks_when_asked() -> None:
    """Let the agent see where one of several trainers hangs, in its log."""
    if PROGRESS_VARIABLE in os.environ:
        import faulthandler  # noqa: PLC0415  a trainer alone does without

        faulthandler.register(STACKS_SIGNAL, all_threads=True)


def _failure_file_text(text: str) -> None:
    """Write ``output/failure``, where SageMaker looks for the reason too."""
    base = os.environ.get("SAGEMAKER_BASE_DIR")
    if base is None or _is_over():
        return
    path = os.path.join(base, "output", "failure")  # noqa: PTH118  as above
    # of several trainers the first one to fail says why
    mode = "w" if os.environ.get("LOCAL_WORLD_SIZE", "1") == "1" else "x"
    # a full disk must not hide the failure itself, which is in the log
    with suppress(OSError), open(path, mode, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        file.write(text[:1024])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
