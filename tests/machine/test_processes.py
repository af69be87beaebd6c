from __future__ import annotations

import itertools
import os
import select
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from smtc_lab.machine.processes import (
    TreeClock,
    descendants,
    end_all,
    processes_with_variable,
    send_signal,
    start_ticks,
    wake_idle,
)
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Start = Callable[..., subprocess.Popen[str]]

FAMILY = """
    import os, signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        if os.fork() == 0:
            print("born", flush=True)
        time.sleep(600)
    time.sleep(600)
"""
NO_SUCH_PID = 2**22 + 1


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a program that says one line when it is ready; its group is killed at the end."""
    processes = []

    def start_program(body: str, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-S", "-c", textwrap.dedent(body)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        processes.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    yield start_program
    for process in processes:
        with process:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_descendants_are_found_down_to_the_grandchildren(start: Start) -> None:
    family = start(FAMILY)

    assert len(descendants(family.pid)) == 2
    assert family.pid not in descendants(family.pid)
    assert {family.pid, *descendants(family.pid)} <= set(descendants(os.getpid()))


def test_a_zombie_and_a_number_without_a_process_have_no_descendants(start: Start) -> None:
    process = start("print()")
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert process.pid not in descendants(os.getpid())
    assert descendants(process.pid) == []
    assert descendants(NO_SUCH_PID) == []


def test_a_process_is_known_by_its_start(start: Start) -> None:
    process = start("print(); input()")

    first = start_ticks(process.pid)
    assert first is not None
    assert first == start_ticks(process.pid)
    assert first >= (start_ticks(os.getpid()) or 0)


def test_a_zombie_and_a_number_without_a_process_have_no_start(start: Start) -> None:
    process = start("print()")
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert start_ticks(process.pid) is None
    assert start_ticks(NO_SUCH_PID) is None


def test_a_hostile_process_name_confuses_nobody(start: Start) -> None:
    process = start("""
        from pathlib import Path
        Path("/proc/self/comm").write_text("a) R 1 (b")
        print(flush=True)
        input()
    """)

    assert process.pid in descendants(os.getpid())
    assert start_ticks(process.pid) is not None


def test_processes_are_found_by_a_variable(start: Start) -> None:
    one = start("print(flush=True); input()", SMTC_TEST_MARK="one=1")
    two = start("print(flush=True); input()", SMTC_TEST_MARK="two")
    other = start("print(flush=True); input()", SMTC_TEST_MARKS="one=1")

    assert processes_with_variable("SMTC_TEST_MARK") == {one.pid: "one=1", two.pid: "two"}
    assert processes_with_variable("SMTC_TEST_MARK", "one=1") == {one.pid: "one=1"}
    assert processes_with_variable("SMTC_TEST_MARK", "") == {}
    assert other.pid not in processes_with_variable("SMTC_TEST_MARK")


def test_a_signal_to_a_process_that_is_gone_is_passed_over(start: Start) -> None:
    process = start("print(flush=True); input()")

    send_signal([NO_SUCH_PID, process.pid], signal.SIGKILL)

    assert process.wait() == -signal.SIGKILL


def test_end_all_gives_time_to_end_in_good_order(start: Start) -> None:
    process = start("""
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
        print(flush=True)
        time.sleep(600)
    """)

    end_all(lambda: [process.pid] if process.poll() is None else [], grace_s=60)

    assert process.returncode == 7


def test_end_all_ends_a_family_that_ignores_sigterm(start: Start) -> None:
    family = start(FAMILY)
    pids = [family.pid, *descendants(family.pid)]

    def members() -> list[int]:
        family.poll()
        return [pid for pid in pids if start_ticks(pid) is not None]

    end_all(members, grace_s=0.1)

    assert family.returncode == -signal.SIGKILL
    assert members() == []


def test_end_all_ends_what_is_stopped(start: Start) -> None:
    process = start("print(flush=True); input()")
    process.send_signal(signal.SIGSTOP)

    end_all(lambda: [process.pid] if process.poll() is None else [], grace_s=60)

    assert process.returncode == -signal.SIGTERM


def test_a_process_of_idle_priority_is_woken_to_end(start: Start) -> None:
    process = start("""
        import os
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        print("idle", flush=True)
        input()
    """)
    allowed = os.geteuid() == 0

    wake_idle([process.pid, NO_SUCH_PID])

    awake = os.sched_getscheduler(process.pid) == os.SCHED_OTHER
    assert awake or not allowed


def test_who_handles_sigterm_keeps_its_own_children_until_it_has_ended(start: Start) -> None:
    parent = start("""
        import signal, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
        def save(*_):
            time.sleep(0.2)
            sys.exit(7 if child.poll() is None else 8)
        signal.signal(signal.SIGTERM, save)
        print(flush=True)
        time.sleep(600)
    """)
    (child,) = descendants(parent.pid)

    def members() -> list[int]:
        parent.poll()
        return [pid for pid in (parent.pid, child) if start_ticks(pid) is not None]

    end_all(members, grace_s=60)

    assert parent.returncode == 7
    assert members() == []


def test_end_all_ends_what_is_born_meanwhile(start: Start) -> None:
    parent = start("""
        import os, signal, subprocess, sys, time
        def bear(*_):
            subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
        signal.signal(signal.SIGTERM, bear)
        print(flush=True)
        while True:
            time.sleep(600)
    """)
    seen, looks = {parent.pid}, itertools.count()

    def members() -> list[int]:
        parent.poll()
        if next(looks) == 1:  # it was told to end before this look
            wait_until(lambda: descendants(parent.pid), what="the birth")
        seen.update(descendants(parent.pid))
        return [pid for pid in seen if start_ticks(pid) is not None]

    end_all(members, grace_s=0.1)

    assert len(seen) == 2
    assert members() == []


def test_reap_collects_children_with_their_exit_codes() -> None:
    outcome = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(REAPER)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert outcome.stdout.split() == ["0", "7", "-9", "[]"]


REAPER = """
    import os, signal
    from smtc_lab.machine.processes import reap
    for code in (0, 7, None):
        pid = os.fork()
        if pid == 0:
            os.kill(os.getpid(), signal.SIGKILL) if code is None else os._exit(code)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        print(*(code for _, code in reap()))
    print(reap())
"""


def test_a_process_whose_threads_still_end_is_waited_for_and_gives_its_exit_code() -> None:
    """Its first thread has ended, so that it counts among the living no more."""
    outcome = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ENDS_LATE)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert outcome.stdout.split() == ["7"]


ENDS_LATE = """
    import os, time
    from smtc_lab.machine import processes
    if os.fork() == 0:
        time.sleep(0.2)
        os._exit(7)
    processes.descendants = lambda root: []  # as of one whose first thread has ended
    def collect():
        print(*(code for _, code in processes.reap()))
    processes.end_below(grace_s=5.0, collect=collect)
"""


def test_an_orphan_becomes_the_child_of_a_subreaper_and_dies_with_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SUBREAPER)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        orphan = int(process.stdout.readline())
        assert orphan in descendants(process.pid)
        end = os.pidfd_open(orphan)
        process.kill()
        assert select.select([end], [], [], PATIENCE_S)[0] == [end]
        os.close(end)


SUBREAPER = """
    import os, time
    from smtc_lab.machine.processes import become_subreaper, die_with_parent
    become_subreaper()
    if os.fork() == 0:
        middle = os.getpid()
        if os.fork() == 0:
            while os.getppid() == middle:
                time.sleep(0.005)
            die_with_parent()
            print(os.getpid(), flush=True)
            time.sleep(600)
        os._exit(0)
    time.sleep(600)
"""


def test_a_tree_clock_counts_what_threads_used(start: Start) -> None:
    process = start("""
        import time
        print(flush=True)
        input()
        begin_s = time.process_time()
        while (used_s := time.process_time() - begin_s) < 0.5:
            pass
        print(used_s, flush=True)
        input()
    """)
    assert process.stdin is not None
    assert process.stdout is not None
    clock = TreeClock()
    before_s, _ = clock.look([process.pid])

    process.stdin.write("\n")
    process.stdin.flush()
    said_s = float(process.stdout.readline())
    after_s, waited_s = clock.look([process.pid])

    assert after_s - before_s == pytest.approx(said_s, abs=0.25)
    assert waited_s >= 0


def test_a_tree_clock_never_goes_back(start: Start) -> None:
    process = start("print(flush=True); input()")
    clock = TreeClock()

    looks = [clock.look([process.pid, os.getpid()]), clock.look([os.getpid()])]
    process.kill()
    process.wait()
    looks += [clock.look([process.pid]), clock.look([]), clock.look([NO_SUCH_PID])]

    used_s, waited_s = ([look[i] for look in looks] for i in (0, 1))
    assert used_s == sorted(used_s)
    assert waited_s == sorted(waited_s)


def test_all_descriptors_are_closed_but_for_some() -> None:
    body = """
import os
from smtc_lab.instance.forking import close_but_for
kept, beside, other = (os.dup(1) for _ in range(3))
close_but_for({0, 1, 2, kept, other})
for number in (0, 1, 2, kept, other):
    os.fstat(number)
try:
    os.fstat(beside)
except OSError:
    print("closed")
"""
    ended = subprocess.run(
        [sys.executable, "-c", body], check=True, capture_output=True, text=True, timeout=60
    )

    assert ended.stdout == "closed\n"
