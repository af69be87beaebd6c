"""The one WebSocket of a browser tab: what it watches, and what it asks for."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from smtc_lab.errors import SmtcLabError
from smtc_lab.views.server.auth import AUTH_RESOURCE, EXECUTE, READ, authorized_to
from smtc_lab.views.server.lab import SETTING
from smtc_lab.views.server.outbox import Outbox, Watching

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.views.server.lab import Lab

MOST_WATCHES = 256
"""Watches of one browser tab."""

_LONGEST_MESSAGE_BYTES = 64 * 1024


_MAY = frozenset({"stop", "interrupt", "resume"})
"""Messages of a view that need the right to execute."""


class StreamSocket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Carries what one browser tab watches. Messages of the browser are taken one by one."""

    auth_resource = AUTH_RESOURCE

    @property
    def max_message_size(self) -> int:
        """Bytes of a message of the browser, at most."""
        return _LONGEST_MESSAGE_BYTES

    @ws_authenticated
    @authorized_to(READ)
    async def get(self, *args: str, **kwargs: str) -> None:
        """Begin the stream."""
        await super().get(*args, **kwargs)

    def open(self, *args: str, **kwargs: str) -> None:
        """Begin to send what is watched."""
        super().open(*args, **kwargs)
        self._lab: Lab = self.settings[SETTING]
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._outbox = Outbox(self._wake)
        self._watches: dict[int, Watching] = {}
        self._is_closed = False
        self._writer = asyncio.create_task(self._write())

    async def on_message(self, message: str | bytes) -> None:
        """Take what the browser asks for."""
        try:
            asked = json.loads(message)
        except (ValueError, RecursionError):
            asked = None
        match asked:
            case {"type": "watch", "id": int(number), "view": str(view), **rest}:
                await self._watch(number, view, str(rest.get("name", "")))
            case {"type": "unwatch", "id": int(number)}:
                if (watching := self._watches.pop(number, None)) is not None:
                    await self._leave(watching)
            case {"type": "message", "id": int(number), "content": dict(content)}:
                await self._receive(number, content)
            case _:
                shown = str(message[:200])
                self._refuse(None, f"The message {shown!r} is not known. Load the page again.")

    def on_close(self) -> None:
        """Watch nothing any longer."""
        self._is_closed = True
        self._writer.cancel()
        for watching in self._watches.values():
            self._lab.threads.submit(self._leave_now, watching)
        self._watches = {}

    async def _watch(self, number: int, view: str, name: str) -> None:
        if number in self._watches:
            self._refuse(number, f"Watch {number} is there already. Count on.")
            return
        if len(self._watches) >= MOST_WATCHES:
            self._refuse(
                number,
                f"This page watches {MOST_WATCHES} runs already, and may watch no more. Close "
                "some of its panels.",
            )
            return
        watching = self._watches[number] = Watching(number, self._outbox)
        try:
            await self._in_thread(lambda: self._lab.hub().join(view, name, watching))
        except (SmtcLabError, OSError) as error:
            self._watches.pop(number, None)
            self._refuse(number, str(error))
            return
        if self._is_closed:
            await self._leave(watching)

    async def _receive(self, number: int, content: Mapping[str, Any]) -> None:
        watching = self._watches.get(number)
        if watching is None or watching.topic is None:
            return  # it crossed the word that the watch could not begin
        asked = content.get("type")
        if isinstance(asked, str) and asked in _MAY and not await self._may_execute():
            problem = f"You may not {asked} runs on this server. Ask who runs it for that."
            values = {f"{asked}_problem": problem}
            self._outbox.tell({"type": "set", "id": number, "values": values})
            return
        topic = watching.topic
        await self._in_thread(lambda: topic.receive(content, watching))

    async def _may_execute(self) -> bool:
        allowed = self.authorizer.is_authorized(self, self.current_user, EXECUTE, AUTH_RESOURCE)
        return bool(await ensure_async(allowed))

    async def _leave(self, watching: Watching) -> None:
        await self._in_thread(lambda: self._leave_now(watching))

    def _leave_now(self, watching: Watching) -> None:
        if watching.topic is not None:
            self._lab.hub().leave(watching.topic, watching)
        self._outbox.forget(watching)

    def _refuse(self, number: int | None, message: str) -> None:
        self._outbox.tell({"type": "problem", "id": number, "message": message})

    async def _in_thread(self, function: Callable[[], Any]) -> Any:  # noqa: ANN401  what it returns
        return await self._loop.run_in_executor(self._lab.threads, function)

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._woken.set)

    async def _write(self) -> None:
        """Send what waits, each message when the one before it has left."""
        with contextlib.suppress(WebSocketClosedError, StreamClosedError):
            while True:
                await self._woken.wait()
                self._woken.clear()
                while True:
                    message = self._outbox.take()
                    if message is not None:
                        await self.write_message(message, binary=isinstance(message, bytes))
                    elif self._outbox.is_missing:
                        await self._in_thread(self._outbox.ask_for_missing)
                    else:
                        break
