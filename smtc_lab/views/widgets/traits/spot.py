"""What a job would be on spot instances, for widgets whose form asks it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import traitlets

from smtc_lab.views.forecast.answering import Answering
from smtc_lab.views.spot.info import SpotAnswer
from smtc_lab.views.widgets.base import View, built_front_end

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog

_MOST_WAITING = 5


class SpotView(View):
    """A widget whose form has a part about interruptions, sent when it is opened."""

    catalog: Catalog
    """Instance types and prices."""

    spot_answer = traitlets.Dict(read_only=True).tag(sync=True)
    """The newest ``SpotAnswer`` of ``smtc_lab.views.spot`` as JSON."""

    def __init__(self, **traits: Any) -> None:  # noqa: ANN401  traitlets checks them
        self._spot_questions: deque[object] = deque(maxlen=_MOST_WAITING)
        self._spot_answers = Answering(self._tell_spot, name="smtc-spot")
        super().__init__(**traits)

    def answer_spot(self, content: dict[str, Any]) -> bool:
        """Answer what a browser asks for in a thread; False: it is about something else."""
        match content.get("type"):
            case "spot-part":
                self.send({"type": "spot-part", "module": built_front_end("spot.js")})
            case "spot-forecast":
                self._spot_questions.append(content.get("question"))
                self._spot_answers.ask()
            case _:
                return False
        return True

    def close(self) -> None:
        """Take the view away."""
        self._spot_answers.close()
        super().close()

    def _tell_spot(self) -> None:
        from smtc_lab.views.spot.asked import spot_answer  # noqa: PLC0415  numpy, seldom needed

        while self._spot_questions:
            question = self._spot_questions.popleft()
            self.set_trait("spot_answer", spot_answer(question, catalog=self.catalog).as_dict())

    @traitlets.default("spot_answer")
    def _first_spot(self) -> dict[str, Any]:
        return SpotAnswer().as_dict()
