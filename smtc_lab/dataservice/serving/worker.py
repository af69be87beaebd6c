"""A data worker: a forked process that makes the batches of one loader for one client."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from typing import TYPE_CHECKING, NoReturn

import torch

from smtc_lab.dataservice.protocol.ended import EndedWorker
from smtc_lab.dataservice.protocol.landing import LandingPool
from smtc_lab.dataservice.protocol.segments import SharedPlaces
from smtc_lab.dataservice.serving.batch_maker import BatchMaker
from smtc_lab.dataservice.serving.collating import collate_into
from smtc_lab.dataservice.serving.desk import Desk
from smtc_lab.machine.quota.vcpu import own_vcpu

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.context import ForkProcess

    from smtc_lab.dataservice.protocol.connection import WorkerConnection
    from smtc_lab.dataservice.protocol.segments import SharedFile
    from smtc_lab.dataservice.serving.batch_maker import Identity
    from smtc_lab.dataservice.source import LoaderSource

HELD_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})
"""Blocked while a data worker is forked: until it has handlers of its own, it would run the
parent's, which may stop the parent's server."""

_PARENT_CHECK_S = 1.0
_JOIN_S = 5.0
_PR_SET_PDEATHSIG = 1
# Loaded before any fork: a forked process may not be able to take the loader's lock.
_libc = ctypes.CDLL(None, use_errno=True)


def fork(
    run: Callable[..., NoReturn], *args: object, name: str, has_children: bool = False
) -> ForkProcess:
    """Fork a process that ends with this one.

    Like torch's DataLoader, this forks a process that may have threads. The child therefore
    uses nothing that another thread may have locked: no logging, no object of ours that has a
    lock, nothing but what it was given and what it makes.

    Args:
        run: Its main function. It gets this process's number, and whether the forking thread
            lives as long, so that the kernel may end the child with it; then ``args``.
        args: The other arguments.
        name: What the process is called.
        has_children: Whether it forks others itself.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    process = multiprocessing.get_context("fork").Process(
        target=run,
        args=(os.getpid(), in_main_thread, *args),
        name=name,
        daemon=not has_children,
    )
    with warnings.catch_warnings():
        # Python 3.12 warns of any fork beside threads, also of those of OpenMP.
        warnings.simplefilter("ignore", DeprecationWarning)
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, HELD_SIGNALS)
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return process


def ended(process: ForkProcess) -> EndedWorker:
    """Return how a process has ended that was killed, or has ended by itself."""
    process.join(_JOIN_S)
    pid, code = process.pid, process.exitcode
    assert pid is not None  # noqa: S101  it was started
    if code is not None:
        process.close()
    return EndedWorker(pid=pid, exit_code=code)


def run(  # noqa: PLR0913, PLR0917  what a process is given
    parent_pid: int,
    dies_with_thread: bool,  # noqa: FBT001  as ``fork`` gives it
    arrive: Callable[[Callable[[int], None] | None], tuple[WorkerConnection, Identity]],
    source: LoaderSource,
    file: SharedFile | None = None,
    is_a_vcpu: bool = True,  # noqa: FBT001, FBT002  as above
) -> NoReturn:
    """Make batches until the client is gone. The main function of the process.

    Args:
        parent_pid: Process that forked it.
        dies_with_thread: Whether the forking thread lives as long as the parent, so that the
            kernel may end this process with it.
        arrive: Returns the connection to its client, and who this is, given what frees shared
            memory.
        source: What it makes batches of.
        file: Memory that it shares with its client; None: it shares none.
        is_a_vcpu: Whether it is held to one vCPU where those are emulated.
    """
    try:
        leave_parent(parent_pid, dies_with_thread=dies_with_thread)
        places = None if file is None else SharedPlaces(file)
        connection, identity = arrive(None if places is None else places.release)
        collate_into(LandingPool().take if places is None else places.take)
        share = None if places is None else places.share
        vcpu = own_vcpu(busy=identity.num_data_workers) if is_a_vcpu else None
        maker = BatchMaker(source, identity, share=share, vcpu=vcpu)
        Desk(connection, maker, vcpu=vcpu).work()
        os._exit(0)
    except BaseException:  # noqa: BLE001  the last chance to say why the process ends
        traceback.print_exc()
    finally:
        # Not sys.exit: the parent's exit handlers were forked too.
        os._exit(1)


def leave_parent(parent_pid: int, *, dies_with_thread: bool) -> None:
    """Become a process of its own that ends with its parent, just after it was forked."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_SIGNALS)
    if dies_with_thread:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(0)
    threading.Thread(target=_end_with, args=(parent_pid,), daemon=True).start()
    torch.set_num_threads(1)


def _end_with(parent_pid: int) -> NoReturn:
    """End the process when its parent is gone, also amid a batch."""
    while os.getppid() == parent_pid:
        time.sleep(_PARENT_CHECK_S)
    os._exit(0)
