"""Watches one run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from smtc_lab.follow.log_tail import LogTail
from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.views.live.watch import Audience, Watch
from smtc_lab.views.run.describer import RunDescriber

if TYPE_CHECKING:
    from smtc_lab.follow.stream import Send
    from smtc_lab.store.run_folder import RunFolder

_LOOKS = 15
"""Looks from one telling to the next: half a second, more where many watches share a core."""


class RunWatch(Watch):
    """Follows a run. It tells ``info``, a ``RunInfo``; ``log``, the last lines; ``beat``.

    Args:
        folder: The run.
        send: Called with the content and the buffers of each message about its tables; None:
            those who join its stream are told.
        audience: Whom it tells everything else.

    Raises:
        StoreError: The run's folder cannot be read.
    """

    _follower: RunFollower
    _describer: RunDescriber

    def __init__(self, folder: RunFolder, send: Send | None, audience: Audience) -> None:
        super().__init__(send, audience, name="smtc-run-watch")
        self._follower = RunFollower(folder, self.stream)
        self._describer = RunDescriber(self._follower)
        self._log = LogTail(folder.logs)
        self._told_s = float("-inf")

    def _first(self) -> dict[str, Any]:
        return {
            "info": self._describer.describe().as_dict(),
            "log": {"lines": [], "unfinished": [], "leftOut": 0, "silent": []},
        }

    def _look(self) -> dict[str, Any]:
        # the end before the look, so that the look sees all
        self._has_ended = self._follower.state.is_terminal
        self._follower.look()
        self.stream.flush()
        self._describer.problem = ""
        return self._news()

    def _look_past(self, problem: str) -> dict[str, Any]:
        self._describer.problem = problem
        self._has_ended = self._follower.state.is_terminal
        return self._news()

    def _news(self) -> dict[str, Any]:
        """Return log and description where they changed, at most twice a second."""
        now_s = time.monotonic()
        if now_s - self._told_s < _LOOKS * self.pause_s and not self._has_ended:
            return {}
        self._told_s = now_s
        values: dict[str, Any] = {}
        if self._log.look():
            values["log"] = self._log.as_dict()
        if self._describer.look(last=self._has_ended):
            values["info"] = self._describer.describe().as_dict()
        return values
