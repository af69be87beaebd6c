"""What the set-ups of a form would be, where the form has no kernel behind it."""

from __future__ import annotations

from typing import Any

from tornado import web

from smtc_lab.views.server.auth import EXECUTE, READ, authorized_to
from smtc_lab.views.server.rest import LabHandler, Refused
from smtc_lab.views.server.set_ups import MOST_ROUNDS, MOST_SET_UPS


class ForecastHandler(LabHandler):
    """What the set-ups of a form would be."""

    @web.authenticated
    @authorized_to(READ)
    async def post(self) -> None:
        """Tell a ``Forecast`` of the set-ups."""
        match asked := self.asked():
            case {"value": list() as value, "rounds": int(rounds)}:
                is_legal = 1 <= rounds <= MOST_ROUNDS and len(value) <= MOST_SET_UPS
            case _:
                is_legal = False
        if not is_legal:
            raise Refused(400, _no_set_ups(asked))
        self.tell(await self.ask(lambda hub: hub.forecast(value, rounds)))


class CalibrationHandler(LabHandler):
    """Where the set-ups of a form are calibrated."""

    @web.authenticated
    @authorized_to(EXECUTE)
    async def post(self) -> None:
        """Begin to calibrate what has no calibration, or stop it; a forecast tells the end."""
        match asked := self.asked():
            case {"calibrate": list() as value} if len(value) <= MOST_SET_UPS:
                await self.ask(lambda hub: hub.calibrate(value), is_slow=True)
            case {"calibrate": None}:
                await self.ask(lambda hub: hub.stop_calibrating())
            case _:
                raise Refused(
                    400,
                    f"{str(asked)[:200]!r} is nothing that can be calibrated. Send "
                    f"calibrate, a list of at most {MOST_SET_UPS} jobs, or null to stop.",
                )
        self.tell({}, 202)


def _no_set_ups(asked: Any) -> str:  # noqa: ANN401  what a browser sent
    return (
        f"{str(asked)[:200]!r} holds no set-ups. Send value, a list of at most {MOST_SET_UPS} "
        f"jobs, and rounds, from 1 to {MOST_ROUNDS}."
    )
