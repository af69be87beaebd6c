"""A data worker: a forked process that makes batches."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
import traceback
from typing import TYPE_CHECKING, NoReturn

import torch

from smtc_lab.dataservice.protocol.landing import LandingPool
from smtc_lab.dataservice.protocol.segments import SharedPlaces
from smtc_lab.dataservice.serving.batch_maker import BatchMaker, Identity
from smtc_lab.dataservice.serving.collating import collate_into
from smtc_lab.dataservice.serving.desk import Desk
from smtc_lab.machine.quota.vcpu import own_vcpu

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Mapping

    from smtc_lab.dataservice.late_loaders.landmarks import Landmarks
    from smtc_lab.dataservice.protocol.segments import SharedFile
    from smtc_lab.dataservice.source import LoaderSource

HELD_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})
"""Blocked while a data worker is forked: until it has handlers of its own, it would run the
parent's, which may stop the parent's server."""

_PARENT_CHECK_S = 1.0
_PR_SET_PDEATHSIG = 1
# Loaded before any fork: a forked process may not be able to take the loader's lock.
_libc = ctypes.CDLL(None, use_errno=True)


def run(  # noqa: PLR0913  what a process is given
    control: socket.socket,
    sources: Mapping[str, LoaderSource],
    identity: Identity,
    *,
    parent_pid: int,
    dies_with_thread: bool,
    file: SharedFile | None,
    tls: ssl.SSLContext | None,
    landmarks: Landmarks | None = None,
    is_a_vcpu: bool = True,
) -> NoReturn:
    """Make batches until the control socket ends. The main function of the process.

    Args:
        control: Brings connections as file descriptors; its end means that the parent is gone.
        sources: What it serves, by loader name.
        identity: Who it is.
        parent_pid: Process that forked it.
        dies_with_thread: Whether the forking thread lives as long as the parent, so that the
            kernel may end this process with it.
        file: Memory that it shares with its only client; None: it shares none.
        tls: What connections are encrypted with; None: they are not.
        landmarks: What the script has here, of which trainers may speak; None: nothing.
        is_a_vcpu: Whether it is held to one vCPU where those are emulated.
    """
    try:
        _leave_parent(parent_pid, dies_with_thread=dies_with_thread)
        places = None if file is None else SharedPlaces(file)
        collate_into(LandingPool().take if places is None else places.take)
        share = None if places is None else places.share
        vcpu = own_vcpu(busy=identity.num_data_workers) if is_a_vcpu else None
        maker = BatchMaker(sources, identity, share=share, landmarks=landmarks, vcpu=vcpu)
        Desk(
            control,
            maker,
            release=None if places is None else places.release,
            tls=tls,
            vcpu=vcpu,
        ).work()
    except BaseException:  # noqa: BLE001  the last chance to say why the process ends
        traceback.print_exc()
    finally:
        # Not sys.exit: the parent's exit handlers were forked too.
        os._exit(1)


def _leave_parent(parent_pid: int, *, dies_with_thread: bool) -> None:
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
