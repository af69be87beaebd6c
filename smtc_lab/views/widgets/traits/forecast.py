"""The forecast of a form's set-ups as a trait, for widgets that show them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import traitlets

from smtc_lab.views.forecast.calibrator import CALIBRATOR
from smtc_lab.views.forecast.info import Forecast
from smtc_lab.views.widgets.base import View

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.views.forecast.calibrator import Calibrating


class ForecastView(View):
    """A widget whose form is told what its set-ups would be.

    Nothing is told before a view has opened: it sends ``forecast``, or asks for environments.
    A thread answers, the newest question next, so that answers come in the order of questions
    and a slow one holds up nothing but the next.
    """

    catalog: Catalog
    """Instance types and prices."""

    value: list[dict[str, Any]]
    """The set-ups, as they are typed."""

    rounds: int
    """Launches of each set-up."""

    forecast = traitlets.Dict(read_only=True).tag(sync=True)
    """A ``Forecast`` of ``smtc_lab.views.forecast`` as JSON; ``of`` tells of which value."""

    def __init__(self, **traits: Any) -> None:  # noqa: ANN401  traitlets checks them
        self._state_lock = threading.RLock()
        self._asking = threading.Lock()
        self._is_looked_at = self._is_asked = self._is_answering = False
        super().__init__(**traits)

    def answer_forecast(self, content: dict[str, Any]) -> bool:
        """Do what a browser asks for in a thread; False: it is about something else."""
        kind = content.get("type")
        if kind in {"forecast", "environments"} and not self._is_looked_at:
            self._is_looked_at = True
            CALIBRATOR.listen(self._ask)
            self._ask()
        match kind:
            case "forecast":
                self._ask()
            case "calibrate":
                CALIBRATOR.listen(self._ask)
                threading.Thread(target=self._begin, name="smtc-calibrate", daemon=True).start()
            case "stop-calibrating":
                CALIBRATOR.stop()
            case _:
                return False
        return True

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what a browser sent; a thread that tells something waits for the end of it."""
        with self._state_lock:
            super().set_state(sync_data)

    def close(self) -> None:
        """Take the view away; a calibration goes on."""
        self._is_looked_at = False
        CALIBRATOR.ignore(self._ask)
        super().close()

    @traitlets.observe("value", "rounds", "catalog")
    def _value_changed(self, _change: object) -> None:
        if self._is_looked_at:
            self._ask()

    def _ask(self) -> None:
        """Have the forecast of what is typed now told, soon."""
        with self._asking:
            self._is_asked = True
            if self._is_answering:
                return
            self._is_answering = True
        threading.Thread(target=self._answer, name="smtc-forecast", daemon=True).start()

    def _answer(self) -> None:
        while True:
            with self._asking:
                self._is_answering = self._is_asked and self._is_looked_at
                self._is_asked = False
                if not self._is_answering:
                    return
            told = self._made(CALIBRATOR.calibrating)
            with self._state_lock:
                self.set_trait("forecast", told)

    def _made(self, calibrating: Calibrating) -> dict[str, Any]:
        # numpy and all that predicts: nothing of it is needed to show the form
        from smtc_lab.views.forecast.forecasting import forecast_of  # noqa: PLC0415

        with self._state_lock:
            value, rounds, catalog = self.value, self.rounds, self.catalog
        return forecast_of(value, rounds, catalog=catalog, calibrating=calibrating).as_dict()

    def _begin(self) -> None:
        from smtc_lab.views.forecast.forecasting import calibrate_missing  # noqa: PLC0415

        with self._state_lock:
            value = self.value
        calibrate_missing(value, CALIBRATOR)
        self._ask()

    @traitlets.default("forecast")
    def _first(self) -> dict[str, Any]:
        return Forecast(calibrating=CALIBRATOR.calibrating).as_dict()
