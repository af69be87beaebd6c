"""The description of a comparison, which TypeScript reads from the same fixture."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

from pydantic import TypeAdapter

from smtc_lab.views.study.info import ComparisonInfo

FIXTURE = Path(__file__).parents[2] / "fixtures" / "comparison_info.json"


def test_the_fixture_is_what_a_description_becomes_on_the_wire() -> None:
    wire = json.loads(FIXTURE.read_text(encoding="utf-8"))

    info = TypeAdapter(ComparisonInfo).validate_python(wire)

    assert json.loads(json.dumps(info.to_json())) == wire
    assert set(wire) == {field.name for field in fields(ComparisonInfo)}
