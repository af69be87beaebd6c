"""What a search of hyperparameters is in a notebook, a terminal and a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.metrics.result import Interval
from smtc_lab.metrics.tuning.importance import importances
from smtc_lab.metrics.tuning.pareto import PARETO, PricedTrial, TuningPareto
from smtc_lab.study.tuning import ledger
from smtc_lab.views.kinds import kind_of
from smtc_lab.views.server.topic import WatchTopic
from smtc_lab.views.share.shared import shared
from smtc_lab.views.study.snapshot import study_snapshot
from smtc_lab.views.tuning import follower as following
from smtc_lab.views.tuning.figure import tuning_figure
from smtc_lab.views.tuning.kind import TUNING
from smtc_lab.views.widgets.comparison_monitor import ComparisonMonitor
from tests.kit.runs import wait_until
from tests.kit.tunings import append_trials, curve_of, made_trials, written_search

if TYPE_CHECKING:
    from smtc_lab.study.tuning.tuner import TuningRun
    from smtc_lab.views.tuning.info import TuningInfo


FIXTURE = Path(__file__).parents[2] / "fixtures" / "tuning_info.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def told(study: TuningRun) -> TuningInfo:
    (section,) = study_snapshot(TUNING, study).info.sections
    info: TuningInfo = section.values
    return info


def test_a_search_is_told_by_its_trials_its_curves_and_its_money(root: Path) -> None:
    info = told(written_search(root, curves=5))

    assert (info.begun, info.ended, info.num_trials) == (24, 24, 24)
    assert info.usd == pytest.approx(1.2)
    assert [one.name for one in info.searched] == ["lr", "width", "optimizer"]
    assert [one.is_log for one in info.searched] == [True, False, False]
    best = info.trials[0]
    assert best.objective == min(curve_of(n)[-1] for n in range(24) if n % 6 != 5)
    assert info.so_far[-1].objective == best.objective
    assert info.so_far[-1].trials == 24
    assert info.so_far[-1].usd == pytest.approx(1.2)
    curves = {curve.trial: [y for _, y in curve.points] for curve in info.curves}
    assert curves[3] == pytest.approx(curve_of(3), rel=1e-5)
    assert len(curves) == 5


def test_a_browser_is_told_what_its_tests_are_told(root: Path) -> None:
    study = written_search(root, state="Stopped", curves=9)
    usd = [interval(mean) for mean in (0.4, 0.9, 1.5)]
    points = tuple(
        PricedTrial(
            trial=trial,
            cluster=cluster,
            value=value,
            usd=usd[place],
            time_s=interval(600.0 / (place + 1)),
            is_best=place < 2,
        )
        for place, (trial, cluster, value) in enumerate(
            ((6, "a=ml.g5.xlarge:1", 0.45), (1, "b=ml.p3.2xlarge:1", 0.21), (2, "c=x:1", 0.7))
        )
    )
    (study.folder.path / PARETO).write_text(
        TuningPareto(points=points).model_dump_json(), encoding="utf-8"
    )

    told_json = study_snapshot(TUNING, study).info.to_json()["sections"][0]["values"]
    if not FIXTURE.exists():  # deleted, to be written anew
        FIXTURE.write_text(json.dumps(told_json) + "\n", encoding="utf-8")
    assert json.loads(FIXTURE.read_text(encoding="utf-8")) == told_json


def interval(mean: float) -> Interval:
    return Interval(mean=mean, low=0.8 * mean, high=1.3 * mean, level=0.8, evidence="predicted")


def test_what_matters_is_found_and_called_estimated(root: Path) -> None:
    study = written_search(root)
    shares = {one.name: one.importance for one in told(study).searched}

    assert shares["lr"] is not None
    assert shares["lr"] > 0.6
    assert max(shares["width"] or 0.0, shares["optimizer"] or 0.0) < 0.3
    text = TUNING.text(TUNING.see(study.folder.path))
    assert "Estimated from 20 trials" in text
    html = TUNING.html(TUNING.see(study.folder.path))
    assert "Estimated from 20 trials" in html
    assert "<b>rank 0" not in html


def test_chance_explains_nothing_and_few_trials_tell_nothing() -> None:
    dice = np.random.default_rng(1)
    x, y = dice.uniform(size=200), dice.uniform(size=200)

    (by_chance,) = importances([x], [False], list(y))
    (valley,) = importances([x], [False], list((x - 0.5) ** 2))

    assert by_chance == pytest.approx(0.0, abs=0.05)
    assert valley is not None
    assert valley > 0.5, "no correlation, but a shape"
    assert importances([x[:9]], [False], list(y[:9])) == [None]
    assert importances([x], [False], [1.0] * 200) == [None]


def test_a_ledger_is_read_once_and_a_curve_too(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = written_search(root, num=4, state="InProgress")
    asked: list[int] = []

    def counted(folder: Path, *, after: int = 0) -> list[ledger.LedgerRow]:
        asked.append(after)
        return ledger.read_ledger(folder, after=after)

    monkeypatch.setattr(following, "read_ledger", counted)
    follower = TUNING.follower(study, _stream())
    follower.look()
    follower.look()
    assert asked == [0]
    assert TUNING.sentence(follower).endswith("4 of 4 trials ended, $0.200 of $2.00 spent.")
    append_trials(study.folder, made_trials(1, first=4))

    assert follower.look()
    assert asked == [0, 8]
    assert follower.found.trials[4].value == curve_of(4)[-1]
    assert not follower.look()


def test_no_trial_and_no_price_are_told_as_that(root: Path) -> None:
    empty = told(written_search(root / "a" / "runs", num=0, state="InProgress"))
    unpriced = told(written_search(root / "b" / "runs", num=5, usd=None))

    assert (empty.begun, empty.so_far, empty.curves) == (0, (), ())
    assert unpriced.usd is None
    assert {one.usd for one in unpriced.so_far} == {None}


def test_the_planners_points_are_told_with_their_intervals(root: Path) -> None:
    study = written_search(root)
    usd = interval(1.0)
    point = {"trial": 2, "cluster": "a=ml.g5.xlarge:1", "value": 0.3, "usd": usd}
    pareto = TuningPareto(points=(PricedTrial(time_s=usd, is_best=True, **point),))
    file = study.folder.path / PARETO
    file.write_text(pareto.model_dump_json(), encoding="utf-8")

    (seen,) = told(study).pareto
    assert seen.is_best
    assert (seen.trial, seen.usd.level) == (2, 0.8)
    file.write_text("{", encoding="utf-8")
    assert told(study).pareto == ()


def test_the_figure_has_dollars_only_where_they_are_known(root: Path) -> None:
    priced = tuning_figure(told(written_search(root / "a" / "runs")))
    unpriced = tuning_figure(told(written_search(root / "b" / "runs", usd=None)))

    labels = [[axes.get_xlabel() for axes in one.axes] for one in (priced, unpriced)]
    assert labels == [["trials that have ended", "USD spent"], ["trials that have ended"]]
    assert shared(written_search(root / "c" / "runs")).kind == "tuning"


def test_a_search_goes_on_from_its_view(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = written_search(root, state="Stopped")
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(type(study), "resume", lambda _, **more: given.append(more))
    topic = WatchTopic(study.folder.path)

    topic.receive({"type": "resume", "max_jobs": 30, "budget_usd": None}, _Deaf())
    wait_until(lambda: bool(given), what="its start")
    assert given == [{"detach": True, "max_jobs": 30}]
    topic.receive({"type": "resume", "budget_usd": -1}, _Deaf())
    wait_until(lambda: "no number above 0" in _problem(topic), what="the refusal")
    topic.close()
    with pytest.raises(SpecError, match=r"max_jobs=2\.5 is no number"):
        kind_of(study).resume(study, {"max_jobs": 2.5})
    with pytest.raises(LauncherError, match="does not go on"):
        super(type(TUNING), TUNING).resume(study, {})


def test_a_widget_sends_its_pictures_and_goes_on(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = written_search(root, num=3, state="Stopped")
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(ComparisonMonitor, "send", lambda _, content, *__: sent.append(content))
    monitor = ComparisonMonitor(study)
    wait_until(lambda: monitor.ended, what="its end")

    def go_on(_: TuningRun, **more: object) -> None:
        append_trials(study.folder, made_trials(1, first=3))
        assert more == {"detach": True, "budget_usd": 3.0}

    monkeypatch.setattr(type(study), "resume", go_on)
    monitor._handle_custom_msg({"type": "tuning-part"}, [])
    monitor._handle_custom_msg({"type": "resume", "budget_usd": 3.0}, [])

    wait_until(lambda: "4 of 3 trials ended" in monitor.info["sentence"], what="the new trial")
    wait_until(lambda: monitor.ended, what="its end again")
    (part,) = (one for one in sent if one["type"] == "tuning-part")
    assert "TuningSection" in part["module"]
    assert monitor.resume_problem == ""
    monitor.close()


def _problem(topic: WatchTopic) -> str:
    return str(topic.news(0)[0]["resume_problem"])


def _stream() -> Any:
    from smtc_lab.follow.stream import Stream

    return Stream(lambda *_: None)


class _Deaf:
    def on_topic(self, topic: Any) -> None: ...

    def on_news(self) -> None: ...

    def on_message(self, content: dict[str, Any], buffers: list[bytes]) -> None: ...
