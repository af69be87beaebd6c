"""Process trees through ``/proc``: who belongs to one, what it used, how it is ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Make orphans among this process's descendants its own children."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def hide_behind_hosts_file(hosts_file: str) -> bool:
    """Show this process and its children ``hosts_file`` as ``/etc/hosts``.

    Returns:
        Whether that worked; it needs the right to mount (root, not every container).
    """
    clone_newns, ms_bind, ms_rec, ms_private = 0x20000, 0x1000, 0x4000, 0x40000
    if _LIBC.unshare(clone_newns) != 0:
        return False
    if _LIBC.mount(None, b"/", None, ms_rec | ms_private, None) != 0:
        return False
    source = hosts_file.encode()
    return bool(_LIBC.mount(source, b"/etc/hosts", None, ms_bind, None) == 0)


def enter_network(namespace: str) -> None:
    """Move this process into a network namespace; its children, too.

    Args:
        namespace: The namespace's file: ``/run/netns/<name>``, or ``/proc/<pid>/ns/net``.

    Raises:
        OSError: It cannot be entered; needs root.
    """
    clone_newnet = 0x40000000
    with open(namespace, "rb") as file:  # noqa: PTH123  a file of the kernel
        if _LIBC.setns(file.fileno(), clone_newnet) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), namespace)


def start_ticks(pid: int) -> int | None:
    """Return the start time of a process in clock ticks since boot; None: no such process.

    Number and start time together name a process for good; the number alone is used again.
    """
    fields = _stat_fields(str(pid))
    return None if fields is None else int(fields[19])


def descendants(root: int) -> list[int]:
    """Return the living descendants of a process, itself not included."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (parent := _parent(entry.name)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.extend(below)
        waiting.extend(below)
    return found


def processes_with_variable(name: str, value: str | None = None) -> dict[int, str]:
    """Return the living processes whose environment holds a variable, with its value.

    Args:
        name: Name of the variable.
        value: Only processes with this value; None: any value.
    """
    prefix = f"{name}=".encode()
    found = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or _parent(entry.name) is None:
            continue
        try:
            environ = Path(f"/proc/{entry.name}/environ").read_bytes()
        except OSError:
            continue
        for item in environ.split(b"\0"):
            if item.startswith(prefix):
                text = item[len(prefix) :].decode(errors="replace")
                if value in {None, text}:
                    found[int(entry.name)] = text
                break
    return found


def send_signal(pids: Iterable[int], number: int) -> None:
    """Send a signal to processes; those that are gone are passed over."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def wake_idle(pids: Iterable[int]) -> None:
    """Give processes of idle priority the ordinary one, so that they can end.

    A busy machine gives them no core to die on: they took 5 s. Where that is not permitted
    they stay as they are.
    """
    for pid in pids:
        with contextlib.suppress(OSError):
            if os.sched_getscheduler(pid) == os.SCHED_IDLE:
                os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


def signals_as_bytes() -> int:
    """Make SIGTERM, SIGINT, SIGUSR1 and SIGCHLD readable, so that one wait hears everything.

    Returns:
        A descriptor from which each signal can be read as one byte, its number.
    """
    readable, write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    return readable


def tells_of_ends() -> bool:
    """Return whether a process can wait for the end of one that is not its child."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # an old kernel, or a sandbox
        return False
    return True


def reap() -> list[tuple[int, int]]:
    """Collect every child that has ended: (pid, exit code as ``subprocess`` writes it)."""
    ended: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, os.waitstatus_to_exitcode(status)))


def end_all(members: Callable[[], list[int]], *, grace_s: float) -> None:
    """End processes: TERM, at most ``grace_s`` seconds, then KILL until none is left.

    Below a process that handles TERM nobody is sent it while that lives: a trainer that saves
    needs its data workers, and a launcher tells its trainers itself.

    Args:
        members: Returns the processes that are still to end, new ones too, and reaps those
            that have ended.
        grace_s: Time between TERM and KILL in seconds.
    """
    present = members()
    wake_idle(present)
    told: set[int] = set()
    deadline = time.monotonic() + grace_s
    while present:
        _tell(present, told)
        if time.monotonic() >= deadline:
            break
        time.sleep(0.02)  # there is no event for "the last of a tree has ended"
        present = members()
    for _ in range(250):
        if not present:
            return
        send_signal(present, signal.SIGKILL)
        time.sleep(0.02)
        present = members()


def _tell(present: list[int], told: set[int]) -> None:
    """Send TERM to those who were not told yet, and are below nobody who handles it."""
    if told.issuperset(present):
        return
    handling = {pid for pid in present if _handles_term(pid)}
    below = {pid: _parent(str(pid)) for pid in present}
    for pid in present:
        above = below[pid]
        while above in below and above not in handling:
            above = below[above]
        if pid not in told and above not in handling:
            told.add(pid)
            send_signal([pid], signal.SIGTERM)
            send_signal([pid], signal.SIGCONT)


def _handles_term(pid: int) -> bool:
    """Return whether a process has a handler of its own for SIGTERM."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    caught = int(status.partition("\nSigCgt:")[2].split(maxsplit=1)[0], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def end_below(*, grace_s: float, collect: Callable[[], object] = reap) -> None:
    """End what is below this process, as ``end_all`` does; ``collect`` reaps its children."""

    def members() -> list[int]:
        collect()
        return descendants(os.getpid())

    end_all(members, grace_s=grace_s)
    # The last one may have ended between the last look at ours and that at all. One whose
    # threads still end lives no longer, and cannot be reaped yet.
    with contextlib.suppress(ChildProcessError):  # there is none
        for _ in range(250):
            collect()
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            time.sleep(0.02)


class TreeClock:
    """CPU time used by threads, and time they stood in line for a CPU, since the first look.

    Reads ``/proc/<pid>/task/<tid>/schedstat`` (nanoseconds). A thread that ends between two
    looks takes what it used since the last look with it.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], tuple[int, int]] = {}
        self._used_ns = 0
        self._waited_ns = 0

    def look(self, pids: Iterable[int]) -> tuple[float, float]:
        """Return used and waited seconds of all threads seen so far.

        Args:
            pids: The processes that belong to the tree now.
        """
        seen: dict[tuple[int, int], tuple[int, int]] = {}
        for pid in pids:
            for key, used, waited in _thread_times(pid):
                before_used, before_waited = self._seen.get(key, (0, 0))
                self._used_ns += max(0, used - before_used)
                self._waited_ns += max(0, waited - before_waited)
                seen[key] = (used, waited)
        self._seen = seen
        return self._used_ns / 1e9, self._waited_ns / 1e9


def _thread_times(pid: int) -> list[tuple[tuple[int, int], int, int]]:
    times = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  hot path
    except OSError:
        return []
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as file:  # noqa: PTH123  hot path
                used, waited, _ = file.read().split()
        except (OSError, ValueError):
            continue
        times.append(((pid, int(thread)), int(used), int(waited)))
    return times


def _parent(pid: str) -> int | None:
    """Return the parent of a living process; None when it is gone or a zombie."""
    fields = _stat_fields(pid)
    return None if fields is None else int(fields[1])


def _stat_fields(pid: str) -> list[bytes] | None:
    """Return ``/proc/<pid>/stat`` from the state on; None when it is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  hot path
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if not fields or fields[0] in {b"Z", b"X"} else fields
