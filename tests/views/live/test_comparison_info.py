"""The description of a comparison, which TypeScript reads from the same fixture."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

from smtc_lab.views.live.comparison_info import (
    ComparisonInfo,
    LaunchInfo,
    RowInfo,
    SetUpInfo,
)

FIXTURE = Path(__file__).parents[2] / "fixtures" / "comparison_info.json"


def test_the_fixture_is_what_a_description_becomes_on_the_wire() -> None:
    wire = json.loads(FIXTURE.read_text(encoding="utf-8"))
    parts = {"set_ups": SetUpInfo, "launched": LaunchInfo, "rows": RowInfo}
    values = {
        name: tuple(parts[name](**part) for part in value) if name in parts else value
        for name, value in wire.items()
    }

    info = ComparisonInfo(**values)

    assert json.loads(json.dumps(info.to_json())) == wire
    assert set(wire) == {field.name for field in fields(ComparisonInfo)}
