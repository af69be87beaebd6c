"""What a form that has no kernel behind it asks: environments, checks, forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tornado import web

from smtc_lab.neutral_text import neutral_json
from smtc_lab.views.server.auth import EXECUTE, READ, authorized_to
from smtc_lab.views.server.rest import LabHandler, Refused

if TYPE_CHECKING:
    from smtc_lab.views.server.hub import Hub

_MOST_SET_UPS = 20
_MOST_ROUNDS = 100
_LONGEST_PATH = 4096


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


class SetUpsHandler(LabHandler):
    """What is wrong with the set-ups of a form, and the code that does the same."""

    @web.authenticated
    @authorized_to(READ)
    async def post(self) -> None:
        """Tell what a ``CheckedSetUps`` holds, and the set-ups: those of the demo for null."""
        value, rounds = _set_ups(self.asked(), may_be_null=True)
        told = await self.ask(lambda hub: _checked(value, rounds, hub))
        self.tell(told, is_exact=True)


class ForecastHandler(LabHandler):
    """What the set-ups of a form would be."""

    @web.authenticated
    @authorized_to(READ)
    async def post(self) -> None:
        """Tell a ``Forecast`` of the set-ups."""
        value, rounds = _set_ups(self.asked(), may_be_null=False)
        self.tell(await self.ask(lambda hub: hub.forecast(value, rounds)))


class CatalogPlansHandler(LabHandler):
    """All clusters that the set-ups of a form could have."""

    @web.authenticated
    @authorized_to(READ)
    async def post(self) -> None:
        """Tell ``CatalogPlans`` of the set-ups."""
        value, _ = _set_ups(self.asked(), may_be_null=False)
        self.tell(await self.ask(lambda hub: hub.catalog_plans(value), is_slow=True))


class CompilerLaddersHandler(LabHandler):
    """What compiler settings brought when the scripts of a form were last compared."""

    @web.authenticated
    @authorized_to(READ)
    async def post(self) -> None:
        """Tell ``CompilerLadders`` of the set-ups."""
        value, _ = _set_ups(self.asked(), may_be_null=False)
        told = await self.ask(lambda hub: hub.compiler_ladders(value), is_slow=True)
        self.tell(told)


class SpotForecastHandler(LabHandler):
    """What a job of a form would be on spot instances."""

    @web.authenticated
    @authorized_to(EXECUTE)  # the market of a job may name a file
    async def post(self) -> None:
        """Tell a ``SpotAnswer`` of a ``SpotQuestion``."""
        asked = self.asked()
        if not isinstance(asked, dict) or not isinstance(asked.get("job"), dict):
            raise Refused(
                400,
                f"{str(asked)[:200]!r} asks nothing of a job. Send a SpotQuestion: asked, job, "
                "and what was entered.",
            )
        self.tell(await self.ask(lambda hub: _spot_answer(asked, hub), is_slow=True))


class CalibrationHandler(LabHandler):
    """Where the set-ups of a form are calibrated."""

    @web.authenticated
    @authorized_to(EXECUTE)
    async def post(self) -> None:
        """Begin to calibrate what has no calibration, or stop it; a forecast tells the end."""
        match asked := self.asked():
            case {"calibrate": list() as value} if len(value) <= _MOST_SET_UPS:
                await self.ask(lambda hub: hub.calibrate(value), is_slow=True)
            case {"calibrate": None}:
                await self.ask(lambda hub: hub.stop_calibrating())
            case _:
                raise Refused(
                    400,
                    f"{str(asked)[:200]!r} is nothing that can be calibrated. Send "
                    f"calibrate, a list of at most {_MOST_SET_UPS} jobs, or null to stop.",
                )
        self.tell({}, 202)


class ScriptsHandler(LabHandler):
    """The scripts that a form offers."""

    @web.authenticated
    @authorized_to(EXECUTE)
    async def post(self) -> None:
        """Tell ``Scripts``, with those in a folder of the machine; empty: the server's own."""
        match asked := self.asked():
            case {"folder": str(folder)} if len(folder) <= _LONGEST_PATH:
                self.tell(await self.ask(lambda hub: hub.scripts(folder)))
            case _:
                raise Refused(
                    400,
                    f"{str(asked)[:200]!r} names no folder. Send folder, a path of at most "
                    f"{_LONGEST_PATH} characters.",
                )


def _set_ups(asked: Any, *, may_be_null: bool) -> tuple[Any, int]:  # noqa: ANN401  what a browser sent
    """Return the set-ups of a form, and how often each is launched.

    Raises:
        Refused: It is something else; says what to send.
    """
    match asked:
        case {"value": list() | None as value, "rounds": int(rounds)}:
            is_legal = 1 <= rounds <= _MOST_ROUNDS and len(value or ()) <= _MOST_SET_UPS
            if is_legal and (may_be_null or value is not None):
                return value, rounds
    or_null = " or null" if may_be_null else ""
    raise Refused(
        400,
        f"{str(asked)[:200]!r} holds no set-ups. Send value, a list of at most {_MOST_SET_UPS} "
        f"jobs{or_null}, and rounds, from 1 to {_MOST_ROUNDS}.",
    )


def _spot_answer(asked: dict[str, Any], hub: Hub) -> dict[str, Any]:
    # what predicts is heavy, and other forms need nothing of it
    from smtc_lab.views.spot.asked import spot_answer  # noqa: PLC0415

    return spot_answer(asked, folder=hub.root_dir, root=hub.root).as_dict()


def _checked(value: list[Any] | None, rounds: int, hub: Hub) -> dict[str, Any]:
    # the specs must not slow down the start of every server
    from smtc_lab.views.code.set_ups import checked_set_ups, first_jobs  # noqa: PLC0415

    if value is None:
        value = [job.model_dump(mode="json") for job in first_jobs()]
    checked = checked_set_ups(
        value, rounds, environments=hub.known_environments(), folder=hub.root_dir
    )
    return {"value": value, **neutral_json(checked.as_dict())}
