"""What is measured of the server extension: with a real Jupyter server, and tabs by hand."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from smtc_lab.store.state import read_state
from tests.kit.lab_tab import Tab

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder
    from tests.kit.browser.jupyter import Server

_SETTLING_S = 3.0


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What a tab saw of growing runs in a while."""

    latency_s: tuple[float, ...]
    """From the end of each step, on the trainer's clock, to the bytes at the tab."""

    cpu_fraction: float
    """Share of a core that the server took, other extensions included."""

    bytes_per_s: float
    """What came to the tab."""


def enable(config: Path) -> None:
    """Switch the extension on for servers that read a folder of configuration."""
    folder = config / "jupyter_server_config.d"
    folder.mkdir(parents=True)
    enabled = {"ServerApp": {"jpserver_extensions": {"smtc_lab.views.server": True}}}
    (folder / "smtc_lab.json").write_text(json.dumps(enabled), encoding="utf-8")


async def time_to_list(server: Server) -> float:
    """Return how long a new tab waits for the list of runs, in seconds."""
    begin_s = time.perf_counter()
    async with _tab(server) as tab:
        await tab.watch(1, "runs")
        await tab.until(lambda tab: tab.rows)
        return time.perf_counter() - begin_s


async def watch_list(server: Server, pid: int, *, seconds: float) -> Watched:
    """Watch the list of runs."""
    async with _tab(server) as tab:
        await tab.watch(1, "runs")
        return await _measured(tab, pid, {}, seconds=seconds)


async def watch_runs(
    server: Server, pid: int, folders: Sequence[RunFolder], *, seconds: float
) -> Watched:
    """Watch growing runs, each with all its charts."""
    started_s = {}
    async with _tab(server) as tab:
        for number, folder in enumerate(folders, start=1):
            await tab.watch(number, "run-monitor", folder.job_name)
            started_s[number] = read_state(folder).started_s or 0.0
        return await _measured(tab, pid, started_s, seconds=seconds)


@contextlib.asynccontextmanager
async def _tab(server: Server) -> AsyncIterator[Tab]:
    url = f"{server.url.replace('http', 'ws', 1)}smtc-lab/api/stream"
    headers = {"Authorization": f"token {server.token}"}
    socket = await websocket_connect(HTTPRequest(url, headers=headers))
    yield Tab(socket)
    socket.close()


async def _measured(
    tab: Tab, pid: int, started_s: dict[int, float], *, seconds: float
) -> Watched:
    process = psutil.Process(pid)
    settled_s = time.monotonic() + _SETTLING_S
    while time.monotonic() < settled_s:
        await tab.take()
    seen = {number: _num_steps(tab, number) for number in started_s}
    begun, begin_s, num_bytes = process.cpu_times(), time.monotonic(), tab.num_bytes
    latency_s: list[float] = []
    while time.monotonic() < begin_s + seconds:
        number = await tab.take()
        if number not in started_s or _num_steps(tab, number) == seen[number]:
            continue
        now_s = time.time()
        ends_s = tab.tables[number]["steps"].column("time_s")[seen[number] :]
        latency_s += [now_s - started_s[number] - end_s for end_s in ends_s]
        seen[number] += len(ends_s)
    ended, took_s = process.cpu_times(), time.monotonic() - begin_s
    return Watched(
        latency_s=tuple(latency_s),
        cpu_fraction=(ended.user + ended.system - begun.user - begun.system) / took_s,
        bytes_per_s=(tab.num_bytes - num_bytes) / took_s,
    )


def _num_steps(tab: Tab, number: int) -> int:
    table = tab.tables[number].get("steps")
    return 0 if table is None else table.rows.shape[1]
