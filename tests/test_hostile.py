from __future__ import annotations

import json
from pathlib import Path

from tests.kit.hostile import HOSTILE_TEXTS

FIXTURE = Path(__file__).parent / "fixtures" / "hostile_texts.json"


def test_the_browsers_tests_read_the_same_texts() -> None:
    assert json.loads(FIXTURE.read_text(encoding="utf-8")) == list(HOSTILE_TEXTS)
    assert len(set(HOSTILE_TEXTS)) >= 40
