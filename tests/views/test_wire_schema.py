"""What crosses to a browser, as TypeScript is told of it."""

from __future__ import annotations

import json
from pathlib import Path

from smtc_lab.views.wire_schema import wire_schema

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "extensions" / "protocol" / "schema" / "wire.json"


def test_the_schema_of_the_browser_is_that_of_the_types() -> None:
    committed = json.loads(SCHEMA.read_text(encoding="utf-8"))

    assert committed == wire_schema(), (
        "what crosses changed: run node extensions/protocol/make_types.mjs"
    )


def test_every_part_and_every_field_of_it_says_what_it_is() -> None:
    silent = [
        name
        for kind, part in wire_schema()["$defs"].items()
        for name, of in {kind: part, **part["properties"]}.items()
        if not of.get("description")
    ]

    assert silent == []
