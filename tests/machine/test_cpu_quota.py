"""What every CPU quota mechanism promises, tried on each of them that works here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.machine.cores import available_cores, machine_facts, versions
from smtc_lab.machine.quota.cgroups import CGROUP_PREFIX, remove_leftover_groups
from smtc_lab.machine.quota.cpu_quota import MECHANISM_VARIABLE, MECHANISMS, open_quota

if TYPE_CHECKING:
    from collections.abc import Iterator

ASKED_CORES = 0.4
MEASURED_S = 1.2

AGENT = """
    import json, os, subprocess, sys, time
    from smtc_lab.machine.quota.cpu_quota import open_quota
    from smtc_lab.machine.processes import TreeClock, descendants

    tree_name, asked_cores, measured_s = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    twins, twins_clock = [int(pid) for pid in sys.argv[4:]], TreeClock()
    quota = open_quota(tree_name)
    clock, used_s = TreeClock(), []

    def look():
        by_threads_s = clock.look(quota.pids())[0]
        by_quota_s = quota.used_s()
        used_s.append(by_threads_s if by_quota_s is None else by_quota_s)
        return used_s[-1]

    spin = [sys.executable, "-S", "-c", "while True: pass"]
    busy = [subprocess.Popen(spin, preexec_fn=quota.join) for _ in twins]
    pids = set(quota.pids())
    look()
    quota.limit(asked_cores)
    time.sleep(0.2)  # what was saved up before is spent now
    begin_s, began_s = look(), time.perf_counter()
    twins_s = -twins_clock.look(twins)[0]
    at_limit_s = -quota.throttling().at_limit_s
    while time.perf_counter() - began_s < measured_s:
        time.sleep(0.1)
        look()
    ended_s = time.perf_counter()
    at_limit_s += quota.throttling().at_limit_s
    used_cores = (used_s[-1] - begin_s) / (ended_s - began_s)
    twin_cores = (twins_s + twins_clock.look(twins)[0]) / (ended_s - began_s)
    at_limit_fraction = at_limit_s / (ended_s - began_s)
    quota.lift()
    time.sleep(0.2)  # the period in which it was lifted is over
    lifted_s, held_s = look(), -quota.throttling().at_limit_s
    began_s = time.perf_counter()
    time.sleep(0.6)
    held_s += quota.throttling().at_limit_s
    lifted_cores = (look() - lifted_s) / (time.perf_counter() - began_s)

    for process in busy:
        process.kill()
        process.wait()
    quota.close()
    quota.close()
    print(json.dumps({
        "name": quota.name,
        "pids_are_the_busy_ones": pids == {process.pid for process in busy},
        "used_cores": used_cores,
        "twin_cores": twin_cores,
        "is_monotone": used_s == sorted(used_s),
        "pids_left": quota.pids(),
        "at_limit_fraction": at_limit_fraction,
        "at_limit_lifted_s": held_s,
        "lifted_cores": lifted_cores,
    }))
"""


@pytest.fixture
def twins() -> Iterator[list[str]]:
    """Two busy processes beside a tree of two: what it would get here without a quota."""
    spin = [sys.executable, "-S", "-c", "while True: pass"]
    busy = [subprocess.Popen(spin) for _ in range(2)]
    yield [str(process.pid) for process in busy]
    for process in busy:
        process.kill()
        process.wait()


def groups_of(tree_name: str) -> list[Path]:
    return list(Path("/sys/fs/cgroup").glob(f"**/{CGROUP_PREFIX}{tree_name}"))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_busy_tree_gets_the_cores_that_it_was_given_and_no_more(
    mechanism: str, twins: list[str]
) -> None:
    tree_name = f"test-{os.getpid()}-{mechanism}-2"
    agent = subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent(AGENT),
            tree_name,
            str(ASKED_CORES),
            str(MEASURED_S),
            *twins,
        ],
        env={**os.environ, MECHANISM_VARIABLE: mechanism},
        capture_output=True,
        text=True,
        check=False,
    )
    last_line = "".join(agent.stderr.splitlines()[-1:])
    if mechanism.startswith("cgroup") and "[Errno" in last_line:
        pytest.skip(f"{mechanism} does not work on this machine: {last_line}")
    assert agent.returncode == 0, agent.stderr
    said: dict[str, Any] = json.loads(agent.stdout)

    assert said["name"] == mechanism
    assert said["pids_are_the_busy_ones"]
    assert said["used_cores"] <= 1.3 * ASKED_CORES
    assert said["used_cores"] >= 0.4 * min(ASKED_CORES, said["twin_cores"])
    assert said["is_monotone"]
    assert 0 <= said["at_limit_fraction"] <= 1.3
    if said["twin_cores"] > 1.5 * ASKED_CORES:  # else there may be no limit that it comes to
        assert said["at_limit_fraction"] > 0
    assert said["at_limit_lifted_s"] == 0
    assert said["lifted_cores"] >= 0.4 * said["twin_cores"]
    assert said["pids_left"] == []
    assert groups_of(tree_name) == []


def test_an_unknown_mechanism_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MECHANISM_VARIABLE, "magic")

    with pytest.raises(
        OSError, match=r"SMTC_CPU_QUOTA='magic'.*cgroup-v2, cgroup-v1.*unset it"
    ):
        open_quota("test")


def test_the_first_mechanism_that_works_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MECHANISM_VARIABLE, raising=False)

    quota = open_quota(f"test-{os.getpid()}-first")
    try:
        assert quota.name in MECHANISMS
    finally:
        quota.close()
    assert groups_of(f"test-{os.getpid()}-first") == []


def test_without_control_groups_the_duty_cycle_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(MECHANISM_VARIABLE, raising=False)
    monkeypatch.setattr("smtc_lab.machine.quota.cgroups._MOUNT", tmp_path)

    assert open_quota("test").name == "duty-cycle"


def test_a_group_that_an_agent_left_behind_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MECHANISM_VARIABLE, raising=False)
    quota = open_quota(f"test-{os.getpid()}-left-algo-1")
    if not quota.name.startswith("cgroup"):
        pytest.skip(f"{quota.name} makes no groups")
    assert groups_of(f"test-{os.getpid()}-left-algo-1")

    assert remove_leftover_groups(f"test-{os.getpid()}-left-") >= 1
    assert remove_leftover_groups(f"test-{os.getpid()}-left-") == 0
    assert groups_of(f"test-{os.getpid()}-left-algo-1") == []


def test_the_available_cores_are_within_the_affinity() -> None:
    assert 0 < available_cores() <= len(os.sched_getaffinity(0))


def test_fewer_allowed_cores_are_fewer_available_ones() -> None:
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert available_cores() <= 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_the_facts_of_the_machine_go_to_json() -> None:
    facts = json.loads(json.dumps({**machine_facts(), "versions": versions()}))

    assert facts["cpu"]
    assert facts["cores"] == available_cores()
    assert facts["memory_gib"] > 0
    assert "numpy" in facts["versions"]
