"""No code above the launchers asks which engine a run is of."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from smtc_lab.launchers.engines import ENGINES

ROOT = Path(__file__).parents[2]
ABOVE_LAUNCHERS = ["cli", "views", "planner", "study", "follow", "rules"]
MODULES = tuple(
    f"{engine.launcher.rpartition(':')[0].rpartition('.')[0]}." for engine in ENGINES.values()
)
CLASSES = {engine.launcher.rpartition(":")[2] for engine in ENGINES.values()}


def engines_in(source: str) -> list[int]:
    """Return the lines of a module in which an engine is named, or something of it."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.expr | ast.stmt) and names_an_engine(node)
    ]


def names_an_engine(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return text in ENGINES or text in CLASSES
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in CLASSES
        case ast.ImportFrom(module=str(module), names=names):
            return any(f"{module}.{each.name}.".startswith(MODULES) for each in names)
        case ast.Import(names=names):
            return any(f"{each.name}.".startswith(MODULES) for each in names)
    return False


def test_nothing_above_the_launchers_names_an_engine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for room in ABOVE_LAUNCHERS
        for path in sorted((ROOT / "smtc_lab" / room).rglob("*.py"))
        for line in engines_in(path.read_text("utf-8"))
    ]
    compared = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "extensions").glob("*/src/**/*.ts"))
        if re.search(r"\.launcher\s*[!=]==?", path.read_text("utf-8"))
    ]

    assert (found, compared) == ([], [])


@pytest.mark.parametrize(
    "source",
    [
        'run.launcher == "local"',
        "from smtc_lab.launchers.on_ray.launcher import RayLauncher",
        "import smtc_lab.launchers.on_sagemaker.cost",
        "from smtc_lab.launchers import local",
        "isinstance(launcher, LocalLauncher)",
        "lab.SageMakerLauncher",
    ],
)
def test_an_engine_that_is_named_would_be_found(source: str) -> None:
    assert engines_in(source)
    assert not engines_in("from smtc_lab.launchers.engines import THIS_MACHINE; 'on local'")
