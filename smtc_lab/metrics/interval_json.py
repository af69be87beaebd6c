"""How an interval is written where its level and evidence follow from the place.

One class, ``Interval``, stands for every mean with its ends; JSON that was public before it did
keeps its form. ``Annotated[Interval, IntervalJson(...)]`` reads and writes that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue

    from smtc_lab.metrics.result import Interval, IntervalEvidence


@dataclass(frozen=True, kw_only=True)
class IntervalJson:
    """Reads and writes an interval as an older version did."""

    level: float
    """Level of an interval that does not say it."""

    evidence: IntervalEvidence
    """Evidence of an interval that does not say it."""

    mean: Literal["mean", "value"] = "value"
    """What the mean is called."""

    is_brief: bool = False
    """Whether level and evidence are left out, and any other field is refused."""

    def __get_pydantic_core_schema__(
        self, source: type[Interval], handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Return how pydantic reads and writes it."""
        return core_schema.no_info_before_validator_function(
            self._read,
            handler(source),
            serialization=core_schema.plain_serializer_function_ser_schema(self._write),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the JSON Schema of its form."""
        found = handler.resolve_ref_schema(handler(schema))
        fields = dict(found["properties"])
        ends = {name: fields[name] for name in ("low", "high")}
        if not self.is_brief:
            ends["level"] = {**fields["level"], "default": self.level}
            ends["evidence"] = {**fields["evidence"], "default": self.evidence}
        return {
            "title": "Interval" if self.mean == "mean" else "Estimate",
            "description": found["description"],
            "type": "object",
            "properties": {self.mean: fields["mean"], **ends},
            "required": [self.mean, "low", "high"],
        }

    def _read(self, given: object) -> object:
        if not isinstance(given, dict):
            return given
        if self.is_brief and (others := sorted({*given} - {self.mean, "low", "high"})):
            raise ValueError(
                f"{others[0]!r} is no field of an interval, which has {self.mean!r}, 'low' and "
                "'high'. Calibrate again."
            )
        if self.mean not in given:
            raise ValueError(f"{self.mean!r} is missing. Make it again.")
        fields = {"level": self.level, "evidence": self.evidence, **given}
        return {**fields, "mean": given[self.mean]}

    def _write(self, interval: Interval) -> dict[str, Any]:
        numbers = {self.mean: interval.mean, "low": interval.low, "high": interval.high}
        if self.is_brief:
            return numbers
        return {**numbers, "level": interval.level, "evidence": interval.evidence}
