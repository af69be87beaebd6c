"""Requests about many runs at once: their table, what is said of one, and their comparison."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tornado import web

from smtc_lab.views.server.auth import EXECUTE, READ, authorized_to
from smtc_lab.views.server.names import folder_of
from smtc_lab.views.server.rest import LabHandler, Refused, family_at

if TYPE_CHECKING:
    from smtc_lab.views.server.hub import Hub


class RunTableHandler(LabHandler):
    """Runs and studies as a table."""

    @web.authenticated
    @authorized_to(READ)
    async def get(self) -> None:
        """Tell one page: filtered by ``where``, in the order of ``sort``."""
        names = ("where", "sort", "first", "count")
        given: dict[str, Any] = {
            name: self.get_argument(name)
            for name in names
            if self.get_argument(name, None) is not None
        }
        lists = {name: self.get_arguments(name) for name in ("columns", "launches")}
        is_fresh = self.get_argument("fresh", "") != ""
        self.tell(
            await self.ask(
                lambda hub: hub.tables.page({**given, **lists}, is_fresh=is_fresh),
                refusal=400,
                is_slow=True,
            )
        )


class NotesHandler(LabHandler):
    """What people say of a run."""

    @web.authenticated
    @authorized_to(EXECUTE)
    async def post(self, name: str) -> None:
        """Change its ``tags``, ``note`` or ``title``; what is not sent stays."""
        from smtc_lab.study.experiments.experiment import annotate  # noqa: PLC0415  see Lab.hub
        from smtc_lab.views.run_table.page import notes_asked  # noqa: PLC0415  as above

        content = self.asked()
        said = content if isinstance(content, dict) else {}
        run = family_at("runs")
        await self.ask(
            lambda hub: annotate(folder_of(run, name, hub.root), **notes_asked(said)),
            refusal=400,
        )
        self.tell({"name": name})


class ComparedRunsHandler(LabHandler):
    """Runs that were never planned together, beside each other."""

    @web.authenticated
    @authorized_to(READ)
    async def get(self) -> None:
        """Tell what differs in ``names``, and the curves of their first ``metrics``."""
        names = [name for name in self.get_argument("names", "").split(",") if name]
        wanted = self.get_argument("metrics", "")
        if wanted and not re.fullmatch(r"[0-9]{1,4}", wanted):
            problem = f"metrics={wanted[:80]!r} is not a number of metrics. Give 1 or more."
            raise Refused(400, problem)
        metrics = int(wanted) if wanted else None
        self.tell(
            await self.ask(
                lambda hub: _compared(hub, names, metrics), refusal=400, is_slow=True
            )
        )


def _compared(hub: Hub, names: list[str], metrics: int | None) -> dict[str, Any]:
    """Return runs beside each other, as JSON values.

    Raises:
        SmtcLabError: There is none of a name, or they are too few or too many.
    """
    from smtc_lab.views.run_comparison.compare import compare_runs  # noqa: PLC0415  heavy

    family = family_at("runs")
    paths = [str(folder_of(family, name, hub.root)) for name in names]
    return compare_runs(*paths, metrics=metrics).model_dump(mode="json")
