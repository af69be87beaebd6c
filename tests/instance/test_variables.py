"""Names of environment variables."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import smtc_lab
from smtc_lab.instance import variables

PACKAGE = Path(smtc_lab.__file__).parent


def test_each_name_of_a_variable_is_spelled_once() -> None:
    names: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        names.update(
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"SMTC_[A-Z_]+[A-Z]", node.value)
        )

    told = {name for key, name in vars(variables).items() if key.endswith("_VARIABLE")}
    assert len(told) > 11
    assert told <= set(names)
    assert {name: count for name, count in names.items() if count > 1} == {}
