"""No text that is shown or saved holds a character that somebody would obey."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab as lab
from smtc_lab.cli import main
from smtc_lab.cli.say import say
from smtc_lab.errors import CatalogError, SmtcLabError, SpecError, StoreError, UnsafeFileError
from smtc_lab.launchers.run import Run
from smtc_lab.store.reader import read_run
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.study.comparison.compare import ComparisonOutcome
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.views.figures.drawing import mime_bundle
from smtc_lab.views.kept import bundle_at
from smtc_lab.views.kinds import kind_at
from smtc_lab.views.live.watch import Audience
from smtc_lab.views.report.save import save_comparison
from smtc_lab.views.run_list import RunList, run_rows
from smtc_lab.views.scripts.info import OfferedCell
from smtc_lab.views.server.list_follower import ListFollower
from smtc_lab.views.server.wire import exact_json_text, json_text
from smtc_lab.views.share.share import share
from smtc_lab.views.text.json_values import json_values
from smtc_lab.views.widgets.cluster_designer import ClusterDesigner
from smtc_lab.views.widgets.comparison_monitor import ComparisonMonitor
from smtc_lab.views.widgets.run_monitor import RunMonitor
from tests.kit.hostile import HOSTILE_TEXTS
from tests.kit.obeyed import CHARACTERS, FAILURE, OBEYED, obeyed_in, poisoned_study

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from smtc_lab.study.folder import StudyFolder


class Told(Audience):
    """Keeps what a watch tells."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def on_values(self, values: Mapping[str, Any]) -> None:
        self.values |= values

    def on_end(self) -> None: ...


@pytest.fixture(scope="module", params=["Completed", "Failed"])
def study(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> StudyFolder:
    return poisoned_study(tmp_path_factory.mktemp("home"), request.param)


@pytest.fixture(scope="module", params=["comparison", "run"])
def folder(request: pytest.FixtureRequest, study: StudyFolder) -> Path:
    """Return the folder of a comparison, and of one of its runs."""
    if request.param == "comparison":
        return study.path
    return study.path.parents[1] / "runs" / "het-1"


def shown_of(value: object) -> str:
    """Return a value with the texts in it as they are."""
    return json.dumps(value, ensure_ascii=False, default=str)


def assert_harmless(text: str, *, tells: str = "\ufffd") -> None:
    assert obeyed_in(text) == set()
    assert tells in text  # else nothing hostile was in it to begin with


def test_views_of_a_folder_hold_none(folder: Path) -> None:
    kind = kind_at(folder)
    seen = kind.see(folder)

    assert_harmless(kind.text(seen))
    assert_harmless(kind.html(seen))
    assert_harmless(shown_of(seen.as_dict()))
    assert_harmless(shown_of(kind.first(folder).as_dict()))
    assert_harmless(shown_of(bundle_at(folder)))


def test_what_a_page_is_told_while_it_watches_holds_none(folder: Path) -> None:
    told = Told()
    watch = kind_at(folder).watch(folder, None, told)
    first = watch.first()
    watch.start()

    assert watch.join(60)
    for values in (first, told.values):
        assert_harmless(shown_of(json.loads(json_text(values))))


def test_a_widget_tells_a_page_none(folder: Path) -> None:
    monitor = (RunMonitor if folder.name == "het-1" else ComparisonMonitor)(
        kind_at(folder).open(folder)  # type: ignore[arg-type]
    )

    assert monitor.wait(60)
    state = monitor.get_state()
    monitor.close()
    assert_harmless(shown_of({name: state[name] for name in state if name != "_esm"}))


def test_lists_hold_none(study: StudyFolder) -> None:
    root = study.path.parents[1] / "runs"
    rows = run_rows(root, last=20)
    listed = RunList(rows=tuple(rows), root=root, begin_with="")

    assert_harmless(json_text(ListFollower(root).look()), tells="\\ufffd")
    assert_harmless(shown_of(json.loads(json_text(ListFollower(root).look()))))
    assert obeyed_in(str(listed)) == set()
    assert obeyed_in(listed._repr_html_()) == set()


def test_a_shared_file_holds_none(folder: Path, tmp_path: Path) -> None:
    thing = kind_at(folder).open(folder)

    assert_harmless(share(thing, tmp_path / "it.html").read_text(encoding="utf-8"))


def test_a_saved_comparison_holds_none_in_any_of_its_files(
    study: StudyFolder, tmp_path: Path
) -> None:
    run = ComparisonRun(study)
    runs = tuple(
        read_run(RunFolder.open(study.path.parents[1] / "runs" / each.job_name))
        for each in run.state.runs
    )
    if run.comparison is None:
        pytest.skip("it failed, and has no result")

    written = save_comparison(
        ComparisonOutcome(comparison=run.comparison, runs=runs), tmp_path / "saved"
    )

    texts = {path for path in written if path.suffix != ".png"}
    assert {path.suffix for path in texts} >= {".json", ".txt", ".html", ".svg"}
    for path in texts:
        assert obeyed_in(path.read_text(encoding="utf-8")) == set(), path


@pytest.mark.parametrize(
    "arguments",
    [
        ("runs",),
        ("runs", "--json"),
        ("runs", "show", "het-1", "--log"),
        ("runs", "show", "het-1", "--json"),
        ("runs", "show", "study-1"),
        ("runs", "show", "study-1", "--json"),
        ("runs", "show", f"no{OBEYED}"),
        ("runs", "delete", f"no{OBEYED}", "--yes"),
        ("plan", f"no{OBEYED}.py"),
        ("compare", f"no{OBEYED}.py", "--cluster", f"no{OBEYED}"),
        (f"no{OBEYED}",),
        ("runs", f"--no{OBEYED}"),
    ],
    ids=lambda each: ascii(" ".join(each).replace(OBEYED, "…")),
)
def test_commands_print_none(
    study: StudyFolder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", os.fspath(study.path.parents[1]))
    monkeypatch.setattr(sys, "argv", ["smtc-lab", *arguments])

    with contextlib.suppress(SystemExit):
        main()
    said = capsys.readouterr()

    assert said.out + said.err != ""
    assert obeyed_in(said.out + said.err) == set()


@pytest.mark.parametrize(
    "error", [SmtcLabError, StoreError, SpecError, CatalogError, UnsafeFileError]
)
def test_an_error_that_quotes_a_text_obeys_none(error: type[SmtcLabError]) -> None:
    assert_harmless(str(error(f"{OBEYED}\0 is no name.")), tells="is no name.")


def test_a_job_of_a_notebook_shows_none(folder: Path) -> None:
    if folder.name != "het-1":
        pytest.skip("a comparison has no job of its own")
    run = Run.open(str(folder))

    assert_harmless(run.job._repr_html_())
    assert obeyed_in(repr(run)) == set()
    assert obeyed_in(lab.Cluster.parse("a=local:1")._repr_html_()) == set()


@pytest.mark.parametrize("text", [*HOSTILE_TEXTS, FAILURE, *sorted(CHARACTERS)])
def test_json_for_a_page_is_neutral_and_what_is_sent_back_is_exact(text: str) -> None:
    value = {"name": [text], text: 1.0}

    assert obeyed_in(shown_of(json.loads(json_text(value)))) == set()
    assert json.loads(exact_json_text(value)) == value


def test_each_way_out_is_neutral_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    say(FAILURE)
    say(FAILURE, err=True)
    said = capsys.readouterr()
    bundle = mime_bundle(
        {"own": {FAILURE: [FAILURE]}}, html=FAILURE, text=FAILURE, picture=None
    )
    designer = ClusterDesigner()
    designer.set_trait("problems", [FAILURE])

    assert_harmless(said.out)
    assert_harmless(said.err)
    assert_harmless(shown_of(json_values(OfferedCell(number=1, about=FAILURE))))
    assert_harmless(shown_of(bundle))
    assert_harmless(shown_of(designer.problems))
