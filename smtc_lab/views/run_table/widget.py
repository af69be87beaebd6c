"""The table of runs in a notebook: filtered, sorted and chosen from, also saved."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import ipywidgets  # type: ignore[import-untyped]
import traitlets

from smtc_lab.errors import SmtcLabError, SpecError
from smtc_lab.machine.installed import loaded
from smtc_lab.neutral_text import neutral_json
from smtc_lab.study.experiments.experiment import annotate
from smtc_lab.study.trash import delete_run, delete_study, put_back
from smtc_lab.views.launch.display import takes_clicks
from smtc_lab.views.named import thing_named
from smtc_lab.views.run_table.page import Asked, Pages, notes_asked
from smtc_lab.views.run_table.table import runs
from smtc_lab.views.shown import ThingShow
from smtc_lab.views.widgets.base import View

if TYPE_CHECKING:
    from smtc_lab.views.run_table.table import RunTable

TABLE_MIME = "application/vnd.smtc-lab.run-table+json"
"""What a notebook keeps of a table: its first page. JupyterLab shows it without a kernel."""

_MOST_CHOSEN = 1_000
# which read tables
_COMPARE = "smtc_lab.views.run_comparison.compare:compare_runs"
_COMPARISON_VIEW = "smtc_lab.views.run_comparison.widget:RunComparisonView"


class RunTableView(View):
    """Shows the rows of ``lab.runs()``; those that are chosen are tagged, noted and deleted.

    What is opened or compared stands below it, in ``box``.

    Args:
        table: What to show.

    Raises:
        ViewError: The front end was not built.
    """

    view: ClassVar[str] = "run-table"
    bundle: ClassVar[str] = "run_table"

    asked = traitlets.Dict().tag(sync=True)
    """What the browser asks for: the fields of ``Asked``."""

    page = traitlets.Dict(read_only=True).tag(sync=True)
    """The page that it shows, or only why there is none: ``problem``."""

    can = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    """What can be done here."""

    told = traitlets.Dict(read_only=True).tag(sync=True)
    """How the last thing went: ``type``, of how many runs it was ``done``, the ``problem`` that
    ended it, and ``undo``, the deletions that can be undone."""

    def __init__(self, table: RunTable) -> None:
        self._pages = Pages(table)
        self._all = [(row["kind"], row["name"]) for row in table.rows]
        self._answer()
        can = ["ask", "unfold", "open", "compare", "annotate", "delete"]
        self.set_trait("can", can)
        super().__init__()
        self.box = ipywidgets.VBox([self])
        """The table, and below it what was opened or compared last."""
        self.on_msg(self._on_message)

    @traitlets.observe("asked")
    def _answer(self, _change: object = None) -> None:
        try:
            told = self._pages.page(Asked.of(self.asked))
        except SpecError as error:
            told = {"problem": str(error)}
        self.set_trait("page", told)

    def _on_message(self, _widget: object, content: Any, _buffers: object) -> None:  # noqa: ANN401  what a browser sent
        acts = {
            "open": self._open,
            "compare": self._compare,
            "delete": self._delete,
            "undo": self._undo,
            "annotate": self._annotate,
        }
        if not isinstance(content, dict) or content.get("type") not in acts:
            return
        done: list[str] = []
        try:
            acts[content["type"]](content, done)
            problem = ""
        except SmtcLabError as error:
            problem = str(error)
        kind = content["type"]
        undo = done if kind == "delete" else []
        told = {"type": kind, "done": len(done), "problem": problem, "undo": undo}
        self.set_trait("told", told)
        self._read_again()
        self._answer()

    def _open(self, content: dict[str, Any], done: list[str]) -> None:
        thing = thing_named(str(content.get("name")), root=self._pages.table.root)
        self._show(ThingShow(thing).monitor(), done)

    def _compare(self, content: dict[str, Any], done: list[str]) -> None:
        names = map(str, list(content.get("names") or ())[:_MOST_CHOSEN])
        compared = loaded(_COMPARE)(*names, root=self._pages.table.root)
        self._show(loaded(_COMPARISON_VIEW)(compared), done)

    def _show(self, view: View, done: list[str]) -> None:
        """Put a view below the table, in the place of the one before."""
        _, *before = self.box.children
        self.box.children = [self, view]
        for each in before:
            each.close()
        done.append(type(view).__name__)

    def _delete(self, content: dict[str, Any], done: list[str]) -> None:
        for name, kind in _chosen(content):
            remove = delete_run if kind == "run" else delete_study
            done.append(remove(name, self._pages.table.root).id)

    def _undo(self, content: dict[str, Any], done: list[str]) -> None:
        for one in list(content.get("ids") or ())[:_MOST_CHOSEN]:
            put_back(str(one), self._pages.table.root)
            done.append(str(one))

    def _annotate(self, content: dict[str, Any], done: list[str]) -> None:
        for name, _ in _chosen(content):
            annotate(name, **notes_asked(content), root=self._pages.table.root)
            done.append(name)

    def _read_again(self) -> None:
        """Show the same rows as they are now; those that are deleted stand there no longer."""
        table = self._pages.table
        now = runs(table.root, launches=True)
        rows = {(row["kind"], row["name"]): row for row in now.rows}
        kept = tuple(rows[key] for key in self._all if key in rows)
        self._pages = Pages(replace(table, rows=kept), now)


def bundle_of(table: RunTable) -> dict[str, Any]:
    """Return the mime bundle of a table: its first page, and a widget where somebody clicks."""
    kept = {TABLE_MIME: {"version": 1, "page": neutral_json(Pages(table).page(Asked()))}}
    if not takes_clicks():
        return kept
    made = RunTableView(table).box._repr_mimebundle_()
    data = made[0] if isinstance(made, tuple) else made
    return {**(data or {}), **kept, "text/plain": str(table)}


def _chosen(content: dict[str, Any]) -> list[tuple[str, str]]:
    rows = content.get("rows")
    rows = rows if isinstance(rows, list) else []
    return [
        (str(row.get("name")), str(row.get("kind")))
        for row in rows[:_MOST_CHOSEN]
        if isinstance(row, dict)
    ]
