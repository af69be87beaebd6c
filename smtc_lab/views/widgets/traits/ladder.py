"""What compiler settings brought in earlier comparisons, for widgets whose forms have them."""

from __future__ import annotations

from typing import Any

import traitlets

from smtc_lab.errors import SmtcLabError
from smtc_lab.views.forecast.answering import Answering
from smtc_lab.views.forecast.ladder import CompilerLadders
from smtc_lab.views.widgets.base import View


class LadderView(View):
    """A widget whose form shows what compiler settings brought. Told when a browser asks."""

    value: list[dict[str, Any]]
    """The set-ups, as they are typed."""

    compiler_ladders = traitlets.Dict(read_only=True).tag(sync=True)
    """``CompilerLadders`` of ``smtc_lab.views.forecast`` as JSON; ``of`` is of which value."""

    def __init__(self, **traits: Any) -> None:  # noqa: ANN401  traitlets checks them
        self._ladders = Answering(self._tell_ladders, name="smtc-ladders")
        super().__init__(**traits)

    def answer_ladders(self, content: dict[str, Any]) -> bool:
        """Look up what a browser asks for in a thread; False: it is about something else."""
        if content.get("type") != "compiler-ladders":
            return False
        self._ladders.ask()
        return True

    def close(self) -> None:
        """Take the view away."""
        self._ladders.close()
        super().close()

    def _tell_ladders(self) -> None:
        # numpy and what compares: nothing of it is needed to show the form
        from smtc_lab.views.forecast.measured_settings import (  # noqa: PLC0415
            compiler_ladders,
        )

        try:
            told = compiler_ladders(self.value)
        except (SmtcLabError, OSError) as error:
            told = CompilerLadders(problem=str(error))
        self.set_trait("compiler_ladders", told.as_dict())

    @traitlets.default("compiler_ladders")
    def _first_ladders(self) -> dict[str, Any]:
        return CompilerLadders().as_dict()
