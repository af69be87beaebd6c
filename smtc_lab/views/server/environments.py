"""The Python environments of a form that has no kernel behind it."""

from __future__ import annotations

from tornado import web

from smtc_lab.views.server.auth import EXECUTE, READ, authorized_to
from smtc_lab.views.server.rest import LabHandler, Refused


class EnvironmentsHandler(LabHandler):
    """The Python environments of this machine, and where that of XLA is made."""

    @web.authenticated
    @authorized_to(READ)
    async def get(self) -> None:
        """Tell what forms know of each environment, and how far the one of XLA is."""
        self.tell(await self.ask(lambda hub: hub.environments(), is_slow=True))

    @web.authenticated
    @authorized_to(EXECUTE)
    async def post(self) -> None:
        """Begin to make the environment of XLA, and tell the same; ``get`` tells the end."""
        asked = self.asked()
        if asked != {"make": "xla"}:
            raise Refused(
                400,
                f"{str(asked)[:200]!r} is nothing that can be made. Send {{'make': 'xla'}}, or "
                "make other environments with 'smtc-lab environment make'.",
            )
        self.tell(await self.ask(lambda hub: hub.make_xla(), is_slow=True), 202)
