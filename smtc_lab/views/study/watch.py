"""Watches one study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError
from smtc_lab.views.live.watch import Audience, Watch
from smtc_lab.views.study.describer import StudyDescriber

if TYPE_CHECKING:
    from smtc_lab.follow.stream import Send
    from smtc_lab.study.study_run import StudyRun
    from smtc_lab.views.study.follower import StudyFollower
    from smtc_lab.views.study.info import ComparisonInfo
    from smtc_lab.views.study.own import StudyOwn


class StudyWatch(Watch):
    """Follows a study.

    It tells ``info``, a ``ComparisonInfo``; ``result``, the ``Comparison`` of all complete
    rounds as JSON text, once there is one; ``beat``.

    Args:
        kind: How it is followed and described.
        run: The study.
        send: Called with the content and the buffers of each message about its tables; None:
            those who join its stream are told.
        audience: Whom it tells everything else.
    """

    _follower: StudyFollower
    _describer: StudyDescriber

    def __init__(
        self, kind: StudyOwn, run: StudyRun, send: Send | None, audience: Audience
    ) -> None:
        super().__init__(send, audience, name=f"smtc-{kind.name}-watch")
        self._follower = kind.follower(run, self.stream)
        self._describer = StudyDescriber(kind, self._follower)

    def _first(self) -> dict[str, Any]:
        try:
            info = self._describer.describe()
        except SmtcLabError as error:
            info = self._describer.describe_problem(str(error))
        return {"result": "", **self._values(info)}

    def _look(self) -> dict[str, Any]:
        has_news = self._follower.look()
        values = self._values(self._describer.describe()) if has_news else {}
        self._has_ended = self._follower.is_over
        return values

    def _look_past(self, problem: str) -> dict[str, Any]:
        self._has_ended = self._follower.state.is_terminal
        return self._values(self._describer.describe_problem(problem))

    def _values(self, info: ComparisonInfo) -> dict[str, Any]:
        comparison = self._follower.comparison
        result = {} if comparison is None else {"result": comparison.to_json()}
        return {**result, "info": info.to_json()}
