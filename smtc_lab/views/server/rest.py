"""The requests that a browser makes beside the stream."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_server.base.handlers import APIHandler
from tornado import web

from smtc_lab.errors import SmtcLabError
from smtc_lab.store.run_folder import runs_root
from smtc_lab.version import __version__
from smtc_lab.views.server.auth import AUTH_RESOURCE, EXECUTE, READ, authorized_to
from smtc_lab.views.server.lab import SETTING
from smtc_lab.views.server.names import NoSuchNameError, folder_of
from smtc_lab.views.server.wire import PROTOCOL, exact_json_text, json_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from smtc_lab.views.kinds import Family
    from smtc_lab.views.server.hub import Hub
    from smtc_lab.views.server.lab import Lab

T = TypeVar("T")


class Refused(web.HTTPError):
    """A request that is answered with a message for people."""

    def __init__(self, status: int, message: str) -> None:
        # a message with a percent sign is no format
        super().__init__(status, "%s", message)
        self.message = message


class LabHandler(APIHandler):
    """What all requests have in common: who may ask, and how errors are told."""

    auth_resource = AUTH_RESOURCE

    async def prepare(self) -> None:  # type: ignore[override]
        """Refuse strangers, whatever they ask for."""
        await super().prepare()
        if self.current_user is None:
            raise web.HTTPError(403)

    async def ask(
        self, question: Callable[[Hub], T], *, refusal: int = 500, is_slow: bool = False
    ) -> T:
        """Ask the hub in a thread, and return its answer.

        Args:
            question: What to ask.
            refusal: Status of the answer when the hub refuses, but for a name that is not
                there.
            is_slow: Whether it takes seconds.

        Raises:
            Refused: The hub refuses; says why.
        """
        lab: Lab = self.settings[SETTING]
        threads: Executor = lab.patient if is_slow else lab.threads
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(threads, lambda: question(lab.hub()))
        except NoSuchNameError as error:
            raise Refused(404, str(error)) from error
        except SmtcLabError as error:
            raise Refused(refusal, str(error)) from error

    def asked(self) -> Any:  # noqa: ANN401  it may be anything
        """Return what a browser sent.

        Raises:
            Refused: It is not JSON.
        """
        try:
            return json.loads(self.request.body)
        except (ValueError, RecursionError) as error:
            problem = f"The request is not JSON ({error}). Load the page again."
            raise Refused(400, problem) from error

    def tell(self, value: object, status: int = 200, *, is_exact: bool = False) -> None:
        """Answer with JSON.

        Args:
            value: The answer.
            status: Of HTTP.
            is_exact: Whether texts stay as they are, as those that the browser sends back.
        """
        self.set_status(status)
        self.finish(exact_json_text(value) if is_exact else json_text(value))

    def write_error(self, status_code: int, **kwargs: Any) -> None:  # noqa: ANN401  as tornado has it
        """Answer with the message of an error: ``{"message": …}``."""
        error = kwargs.get("exc_info", (None, None))[1]
        message = f"{self._reason}."
        if isinstance(error, Refused):
            message = error.message
        elif status_code >= 500:
            message = "The server failed at this. Its log says why."
        self.tell({"message": message}, status_code)


class InfoHandler(LabHandler):
    """What the server has, for a browser that wants to know whether it fits."""

    @web.authenticated
    @authorized_to(READ)
    async def get(self) -> None:
        """Tell version, protocol, and where runs lie."""
        lab: Lab = self.settings[SETTING]
        lab.threads.submit(lab.hub)  # who asks this will ask for more
        self.tell({"version": __version__, "protocol": PROTOCOL, "root": str(runs_root())})


class CatalogHandler(LabHandler):
    """The instance types."""

    @web.authenticated
    @authorized_to(READ)
    async def get(self) -> None:
        """Tell what the forms know of each instance type."""
        self.tell(await self.ask(lambda hub: hub.catalog()))


class RunsHandler(LabHandler):
    """The list of runs, and where new ones are started."""

    @web.authenticated
    @authorized_to(READ)
    async def get(self) -> None:
        """Tell the rows of the newest runs, oldest first."""
        last = self.get_argument("last", None)
        if last is not None and not re.fullmatch(r"[1-9][0-9]{0,8}", last):
            raise Refused(400, f"last={last[:80]!r} is not a number of runs. Give 1 or more.")
        newest = None if last is None else int(last)
        self.tell({"runs": await self.ask(lambda hub: hub.rows(newest))})

    @web.authenticated
    @authorized_to(EXECUTE)
    async def post(self) -> None:
        """Start a run or a comparison."""
        asked = self.asked()
        name = await self.ask(lambda hub: hub.start(asked), refusal=400, is_slow=True)
        self.tell({"name": name}, 201)


class StopHandler(LabHandler):
    """Stops what goes on."""

    @web.authenticated
    @authorized_to(EXECUTE)
    async def post(self, kinds: str, name: str) -> None:
        """Begin to stop; the stream tells the end."""
        family, warn = family_at(kinds), self.log.warning
        await self.ask(lambda hub: hub.stop(family, name, on_problem=warn), refusal=409)
        self.tell({"name": name}, 202)


class DeleteHandler(LabHandler):
    """Deletes what has ended."""

    @web.authenticated
    @authorized_to(EXECUTE)
    async def post(self, kinds: str, name: str) -> None:
        """Delete it, and tell by what it can be undone, and for how many seconds."""
        from smtc_lab.study.trash import KEPT_S  # noqa: PLC0415  see Lab.hub

        family = family_at(kinds)
        deleted = await self.ask(lambda hub: hub.delete(family, name), refusal=409)
        lab: Lab = self.settings[SETTING]
        empty = partial(lab.threads.submit, lambda: lab.hub().empty_trash())
        asyncio.get_running_loop().call_later(KEPT_S + 1, empty)
        self.tell({**asdict(deleted), "kept_s": KEPT_S})


class PutBackHandler(LabHandler):
    """Undoes deletions."""

    @web.authenticated
    @authorized_to(EXECUTE)
    async def post(self, deletion_id: str) -> None:
        """Put back what was deleted."""
        self.tell(asdict(await self.ask(lambda hub: hub.put_back(deletion_id), refusal=409)))


class BundleHandler(LabHandler):
    """What a saved notebook would hold."""

    @web.authenticated
    @authorized_to(READ)
    async def get(self, kinds: str, name: str) -> None:
        """Tell the mime bundle of what has ended."""
        family = family_at(kinds)
        bundle = await self.ask(lambda hub: hub.bundle(family, name), refusal=409, is_slow=True)
        self.tell(bundle)


class PageHandler(LabHandler):
    """A run or a study as one HTML file."""

    @web.authenticated
    @authorized_to(READ)
    async def get(self, kinds: str, name: str) -> None:
        """Tell the content of the file, of what goes on as it is now."""
        family = family_at(kinds)
        html = await self.ask(partial(_page, family, name), refusal=409, is_slow=True)
        self.tell({"html": html}, is_exact=True)


def _page(family: Family, name: str, hub: Hub) -> str:
    from smtc_lab.launchers.run import Run  # noqa: PLC0415  see Lab.hub
    from smtc_lab.views.kinds import open_study  # noqa: PLC0415  as above
    from smtc_lab.views.share.page import page  # noqa: PLC0415  as above
    from smtc_lab.views.share.shared import shared  # noqa: PLC0415  as above

    path = folder_of(family, name, hub.root)
    thing = Run.open(str(path)) if family.name == "run" else open_study(name, root=hub.root)
    return page(shared(thing), at=datetime.now(UTC))


def family_at(kinds: str) -> Family:
    """Return what a part of an address is about."""
    from smtc_lab.views.kinds import family_of  # noqa: PLC0415  see Lab.hub

    return family_of(kinds.removesuffix("s"))
