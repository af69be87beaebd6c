"""What a job on spot instances is expected to cost and to take, to be shown and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import ValidationError

from smtc_lab.display import Displayed
from smtc_lab.errors import PlannerError
from smtc_lab.planner.spot.measured import measured_spot
from smtc_lab.planner.spot.numbers import SCHEMA_VERSION, ForecastNumbers
from smtc_lab.planner.spot.words import forecast_text

if TYPE_CHECKING:
    from smtc_lab.launchers.run import Run


class SpotForecast(Displayed, ForecastNumbers):
    """What a job on spot instances will cost and when it will end, before it is paid."""

    _html_view: ClassVar[str] = "smtc_lab.views.spot.display"

    def with_measured(self, *runs: Run) -> Self:
        """Return the forecast with what runs under such a market measured beside it.

        A notebook shows them in a picture, over the ends between which nine of ten futures lie.

        Args:
            *runs: Completed runs of the job, on spot instances of a ``Market``; their seconds
                are brought to its time scale.

        Raises:
            PlannerError: One was not completed.
        """
        usd_per_hour = self.prices.spot_usd_per_hour
        new = [measured_spot(run, usd_per_hour=usd_per_hour) for run in runs]
        return self.model_copy(update={"measured": (*self.measured, *new)})

    def to_json(self, *, indent: int | None = 1) -> str:
        """Return the forecast as JSON text, which ``from_json`` reads back unchanged."""
        return self.model_dump_json(indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the forecast that was written with ``to_json``.

        Raises:
            PlannerError: The text is damaged, or of another schema version.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise PlannerError(
                f"This is not a spot forecast of schema version {SCHEMA_VERSION}: "
                f"{error.errors(include_url=False)[0]['msg']}. Make it again with "
                "smtc_lab.spot_forecast()."
            ) from error

    def __str__(self) -> str:
        """Return what it is of, a table of the policies, and what to take."""
        return forecast_text(self)

    def __repr__(self) -> str:
        best = self.best
        return (
            f"<{type(self).__name__} of {len(self.policies)} policies; the best is "
            f"{best.policy!r}, ${best.usd.mean:,.2f}; print() shows the table>"
        )
