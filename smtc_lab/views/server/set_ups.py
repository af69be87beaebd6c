"""Checks the set-ups of a form that has no kernel behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tornado import web

from smtc_lab.views.server.auth import READ, authorized_to
from smtc_lab.views.server.rest import LabHandler, Refused

if TYPE_CHECKING:
    from smtc_lab.views.server.hub import Hub

MOST_SET_UPS = 20
MOST_ROUNDS = 100


class SetUpsHandler(LabHandler):
    """What is wrong with the set-ups of a form, and the code that does the same."""

    @web.authenticated
    @authorized_to(READ)
    async def post(self) -> None:
        """Tell what a ``CheckedSetUps`` holds, and the set-ups: those of the demo for null."""
        asked = self.asked()
        match asked:
            case {"value": list() | None as value, "rounds": int(rounds)}:
                is_legal = 1 <= rounds <= MOST_ROUNDS and len(value or ()) <= MOST_SET_UPS
            case _:
                is_legal = False
        if not is_legal:
            raise Refused(
                400,
                f"{str(asked)[:200]!r} holds no set-ups. Send value, a list of at most "
                f"{MOST_SET_UPS} jobs or null, and rounds, from 1 to {MOST_ROUNDS}.",
            )
        self.tell(await self.ask(lambda hub: _checked(value, rounds, hub)))


def _checked(value: list[Any] | None, rounds: int, hub: Hub) -> dict[str, Any]:
    # the specs must not slow down the start of every server
    from smtc_lab.views.code.set_ups import checked_set_ups, first_jobs  # noqa: PLC0415

    if value is None:
        value = [job.model_dump(mode="json") for job in first_jobs()]
    checked = checked_set_ups(value, rounds, environments=hub.known_environments())
    return {"value": value, **checked.as_dict()}
