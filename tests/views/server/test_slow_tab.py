"""A browser tab that reads more slowly than a run records."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from smtc_lab.store.writer import RecordWriter
from smtc_lab.views.server import stream_socket
from smtc_lab.views.server.lab import SETTING
from smtc_lab.views.server.outbox import Outbox
from tests.kit.records import run_records, step_record
from tests.kit.run_folders import set_state, write_run_folder
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    import pytest

    from tests.kit.lab_tab import Tab

    OpenTab = Callable[[], Awaitable[Tab]]


async def test_a_slow_tab_gets_everything_and_the_server_keeps_little_for_it(
    open_tab: OpenTab, root: Path, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, boxes = asyncio.Event(), []
    write = stream_socket.StreamSocket.write_message

    async def write_slowly(socket: Any, message: Any, *, binary: bool) -> None:
        await gate.wait()
        await write(socket, message, binary=binary)

    def small_outbox(wake: Callable[[], None]) -> Outbox:
        boxes.append(Outbox(wake, most_bytes=2000))
        return boxes[-1]

    monkeypatch.setattr(stream_socket.StreamSocket, "write_message", write_slowly)
    monkeypatch.setattr(stream_socket, "Outbox", small_outbox)
    folder = write_run_folder(root, run_records([0.2] * 3, state="InProgress"))
    tab = await open_tab()
    await tab.watch(1, "run-monitor", folder.job_name)
    hub = jp_serverapp.web_app.settings[SETTING].hub()
    await asyncio.to_thread(wait_until, lambda: boxes[0]._num_bytes, what="the first rows")
    (topic,) = hub._topics.values()
    with RecordWriter(folder.records / "algo-1-rank0.sqlite") as writer:
        for step in range(3, 1000):
            writer.append(step_record(step=step))
    set_state(folder, "Completed")
    assert await asyncio.to_thread(topic._watch.join, PATIENCE_S)

    assert boxes[0]._num_bytes <= 2000
    assert boxes[0].is_missing
    gate.set()
    await tab.until(lambda tab: "steps" in tab.tables[1])
    await tab.until(lambda tab: tab.tables[1]["steps"].rows.shape[1] == 1000)

    assert tab.tables[1]["steps"].column("step") == list(range(1000))
    assert tab.tables[1]["steps"].gaps == 0
