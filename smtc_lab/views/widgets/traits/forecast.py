"""The forecast of a form's set-ups as a trait, for widgets that show them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import traitlets

from smtc_lab.views.forecast.answering import Answering
from smtc_lab.views.forecast.calibrator import CALIBRATOR
from smtc_lab.views.forecast.catalog_plan import CatalogPlans
from smtc_lab.views.forecast.info import Forecast
from smtc_lab.views.widgets.base import View

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.views.forecast.calibrator import Calibrating

_PAUSE_S = 0.25
"""Seconds without a change before all clusters are told: what is dragged comes first."""


class ForecastView(View):
    """A widget whose form is told what its set-ups would be, and what all clusters would.

    Nothing is told before a view has opened: it sends ``forecast``, or asks for environments.
    One thread answers what the set-ups would be, and another one, behind it, the rest.
    """

    catalog: Catalog
    """Instance types and prices."""

    value: list[dict[str, Any]]
    """The set-ups, as they are typed."""

    rounds: int
    """Launches of each set-up."""

    forecast = traitlets.Dict(read_only=True).tag(sync=True)
    """A ``Forecast`` of ``smtc_lab.views.forecast`` as JSON; ``of`` tells of which value."""

    catalog_plans = traitlets.Dict(read_only=True).tag(sync=True)
    """``CatalogPlans`` of ``smtc_lab.views.forecast`` as JSON, told behind the forecast."""

    def __init__(self, **traits: Any) -> None:  # noqa: ANN401  traitlets checks them
        self._state_lock = threading.RLock()
        self._is_looked_at = False
        self._planned: tuple[object, ...] = ()
        self._forecasts = Answering(self._tell_forecast, name="smtc-forecast")
        self._plans = Answering(self._tell_plans, name="smtc-catalog-plans", pause_s=_PAUSE_S)
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
        self._forecasts.close()
        self._plans.close()
        super().close()

    @traitlets.observe("value", "rounds", "catalog")
    def _value_changed(self, _change: object) -> None:
        self._ask()

    def _ask(self) -> None:
        """Have the forecast of what is typed now told, soon, if somebody looks."""
        if self._is_looked_at:
            self._forecasts.ask()

    def _tell_forecast(self) -> None:
        told = self._made(CALIBRATOR.calibrating)
        with self._state_lock:
            self.set_trait("forecast", told)
        kept = [each["calibration"] for each in told["set_ups"]]
        asked = (told["of"], kept, self.catalog)
        if any(kept) and asked != self._planned:
            self._planned = asked
            self._plans.ask()

    def _tell_plans(self) -> None:
        # as below, and the planner's search
        from smtc_lab.views.forecast.planning import catalog_plans  # noqa: PLC0415

        with self._state_lock:
            value, catalog = self.value, self.catalog
        told = catalog_plans(value, catalog=catalog).as_dict()
        with self._state_lock:
            self.set_trait("catalog_plans", told)

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

    @traitlets.default("catalog_plans")
    def _first_plans(self) -> dict[str, Any]:
        return CatalogPlans().as_dict()
