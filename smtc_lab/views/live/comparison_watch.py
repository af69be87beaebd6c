"""Watches one comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError
from smtc_lab.views.live.comparison_describer import ComparisonDescriber
from smtc_lab.views.live.comparison_follower import ComparisonFollower
from smtc_lab.views.live.watch import Audience, Watch

if TYPE_CHECKING:
    from smtc_lab.follow.frames import Frame
    from smtc_lab.follow.stream import Send
    from smtc_lab.study.comparison_run import ComparisonRun
    from smtc_lab.views.live.comparison_info import ComparisonInfo


class ComparisonWatch(Watch):
    """Follows a comparison.

    It tells ``info``, a ``ComparisonInfo``; ``result``, the ``Comparison`` of all complete
    rounds as JSON text, once there is one; ``beat``.

    Args:
        run: The comparison.
        send: Called with the content and the buffers of each message about its tables; None:
            those who join its stream are told.
        audience: Whom it tells everything else.
    """

    def __init__(self, run: ComparisonRun, send: Send | None, audience: Audience) -> None:
        super().__init__(send, audience, name="smtc-comparison-watch")
        self._follower = ComparisonFollower(run, self.stream)
        self._describer = ComparisonDescriber(self._follower)
        self._has_ended = False

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

    def _is_over(self) -> bool:
        return self._has_ended

    def _elapsed_s(self) -> float | None:
        return self._describer.elapsed_s()

    def _read(self, table: str, first: int, end: int, most: int) -> Frame | None:
        return self._follower.read(table, first, end, most)

    def _values(self, info: ComparisonInfo) -> dict[str, Any]:
        comparison = self._follower.comparison
        result = {} if comparison is None else {"result": comparison.to_json()}
        return {**result, "info": info.to_json()}
