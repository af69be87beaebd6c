from __future__ import annotations

import subprocess
import threading

import psutil
import pytest

from smtc_lab.compiler.inductor.compile_limit import _end_compilers_for_good, process_clock_s


@pytest.mark.usefixtures("fresh_dynamo")
def test_a_compiler_that_a_thread_was_about_to_start_is_ended_too() -> None:
    from torch._inductor.async_compile import AsyncCompile

    since = process_clock_s()
    may_start = threading.Event()

    def compile_late() -> int:
        may_start.wait()
        return subprocess.run(["sleep", "600"], check=False).returncode

    late = AsyncCompile.pool().submit(compile_late)
    ending = threading.Thread(target=_end_compilers_for_good, kwargs={"since": since})
    ending.start()
    may_start.set()
    ending.join()

    assert late.result() != 0
    assert [it for it in psutil.Process().children() if it.name() == "sleep"] == []


def test_a_process_is_dated_between_two_looks_at_its_clock() -> None:
    before_s = process_clock_s()
    with subprocess.Popen(["sleep", "600"]) as child:
        dated_s = psutil.Process(child.pid).create_time()
        child.kill()

    assert before_s - 0.05 <= dated_s <= process_clock_s()
