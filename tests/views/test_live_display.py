"""A run shows itself live, and its result takes the place of the live view."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient

from smtc_lab.errors import ViewError
from smtc_lab.views import live_display
from smtc_lab.views.run.kind import RUN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WIDGET = "application/vnd.jupyter.widget-view+json"


class FakeMonitor:
    """Stands for a widget."""

    def __init__(self) -> None:
        self.ended = False
        self._on_ended: Callable[[object], None] = lambda _change: None

    def observe(self, callback: Callable[[object], None], name: str) -> None:
        assert name == "ended"
        self._on_ended = callback

    def end(self) -> None:
        self.ended = True
        self._on_ended({})

    def _repr_mimebundle_(self) -> dict[str, Any]:
        return {WIDGET: {"model_id": "m"}, "text/plain": "?"}


class FakeShow:
    """Stands for a run."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.kind, self.name = "run", f"run-{key}"
        self.is_over = False
        self.widget = FakeMonitor()
        self.error: Exception | None = None
        self.num_drawn = 0

    def has_ended(self) -> bool:
        return self.is_over

    def monitor(self) -> Any:
        return self.widget

    def first(self) -> dict[str, str]:
        return {"text/plain": "goes on", "text/html": "<div>goes on</div>"}

    def last(self) -> dict[str, Any]:
        self.num_drawn += 1
        if self.error is not None:
            raise self.error
        return {"text/plain": "over"}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any], bool]]:
    published: list[tuple[str, dict[str, Any], bool]] = []

    def publish(bundle: dict[str, Any], name: str, *, update: bool = False) -> None:
        published.append((name, bundle, update))

    monkeypatch.setattr(live_display, "_publish", publish)
    monkeypatch.setattr(live_display, "in_notebook", lambda: True)
    monkeypatch.setattr(live_display, "_SHOWN", {})
    return published


Shown = list[tuple[str, dict[str, Any], bool]]


def test_the_result_takes_the_place_of_every_live_view(shown: Shown) -> None:
    show = FakeShow("a")
    live_display.display_live(show)
    live_display.display_live(FakeShow("a"))  # the same thing in another cell

    show.widget.end()

    (first, live, _), (second, _, _), *updates = shown
    assert live[WIDGET] == {"model_id": "m"}
    assert live["text/html"] == "<div>goes on</div>"
    assert live[live_display.LIVE_MIME] == {"kind": "run", "name": "run-a"}
    assert updates == [
        (first, {"text/plain": "over"}, True),
        (second, {"text/plain": "over"}, True),
    ]


def test_what_has_ended_is_shown_as_it_ended(shown: Shown) -> None:
    show = FakeShow("a")
    show.is_over = True
    live_display.display_live(show)
    live_display.display_live(show)

    assert [bundle for _, bundle, _ in shown] == [{"text/plain": "over"}] * 2
    assert show.num_drawn == 1


def test_a_cell_that_waited_sends_the_result_again(shown: Shown) -> None:
    show = FakeShow("a")
    live_display.display_live(show)
    show.widget.end()

    live_display.finish("a")

    assert [(bundle, update) for _, bundle, update in shown[1:]] == [
        ({"text/plain": "over"}, True)
    ] * 2


def test_what_was_never_shown_is_not_drawn(shown: Shown) -> None:
    live_display.finish("nobody saw it")

    assert shown == []


def test_a_result_that_cannot_be_drawn_leaves_words(shown: Shown) -> None:
    show = FakeShow("a")
    show.error = ViewError("The picture could not be made.")
    live_display.display_live(show)
    show.widget.end()

    assert shown[1][1] == {
        "text/plain": "goes on\nThe picture could not be made.",
        "text/html": "<div>goes on</div>",
    }


def test_an_end_between_two_looks_is_not_missed(shown: Shown) -> None:
    show = FakeShow("a")
    show.widget.ended = True

    live_display.display_live(show)

    assert shown[-1][1:] == ({"text/plain": "over"}, True)


def test_a_terminal_gets_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_display, "in_notebook", lambda: False)

    live_display.display_live(FakeShow("a"))

    assert capsys.readouterr().out == "goes on\n"


def test_a_notebook_run_without_a_browser_keeps_the_result(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent("""
            from smtc_lab.runtime.instance_runtime import instance_runtime
            timer = instance_runtime().timer
            while not timer.is_done:
                timer.ask()
                timer.got(8)
                timer.end()
        """),
        encoding="utf-8",
    )
    start = f"""
        from pathlib import Path
        import smtc_lab as lab
        cluster = lab.Cluster.parse("here=local:1")
        job = lab.TrainingJob(entry_point={str(script)!r}, max_steps=50, cluster=cluster)
        run = lab.launch(job, root=Path({str(tmp_path / "runs")!r}))
        run
    """
    cells = [textwrap.dedent(start), "run.wait();"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])

    NotebookClient(notebook, timeout=100, kernel_name="python3").execute()

    (output,) = notebook.cells[0].outputs
    assert set(output.data) == {RUN.mime, "text/html", "image/png", "text/plain"}
    assert output.data[RUN.mime]["info"]["state"] == "Completed"
    assert output.data[RUN.mime]["info"]["steps"] == 50
