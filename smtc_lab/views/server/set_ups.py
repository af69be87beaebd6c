"""Checks the set-ups of a form that has no kernel behind it."""

from __future__ import annotations

from typing import Any

from tornado import web

from smtc_lab.views.server.auth import READ, authorized_to
from smtc_lab.views.server.rest import LabHandler, Refused

_MOST_SET_UPS = 20
_MOST_ROUNDS = 100


class SetUpsHandler(LabHandler):
    """What is wrong with the set-ups of a form, and the code that does the same."""

    @web.authenticated
    @authorized_to(READ)
    async def post(self) -> None:
        """Tell what a ``CheckedSetUps`` holds, and the set-ups: those of the demo for null."""
        asked = self.asked()
        match asked:
            case {"value": list() | None as value, "rounds": int(rounds)}:
                is_legal = 1 <= rounds <= _MOST_ROUNDS and len(value or ()) <= _MOST_SET_UPS
            case _:
                is_legal = False
        if not is_legal:
            raise Refused(
                400,
                f"{str(asked)[:200]!r} holds no set-ups. Send value, a list of at most "
                f"{_MOST_SET_UPS} jobs or null, and rounds, from 1 to {_MOST_ROUNDS}.",
            )
        self.tell(await self.ask(lambda _hub: _checked(value, rounds)))


def _checked(value: list[Any] | None, rounds: int) -> dict[str, Any]:
    # the specs must not slow down the start of every server
    from smtc_lab.views.set_ups import checked_set_ups, first_jobs  # noqa: PLC0415

    if value is None:
        value = [job.model_dump(mode="json") for job in first_jobs()]
    return {"value": value, **checked_set_ups(value, rounds).as_dict()}
