"""How the code is written: how long things are, what they are called, what must not be used."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "smtc_lab"
SOURCES = sorted(PACKAGE.rglob("*.py"))
UNSHIPPED = [ROOT / "tests" / "kit", ROOT / "notebooks" / "benchmarks"]
CHECKED = [*SOURCES, *(path for folder in UNSHIPPED for path in sorted(folder.rglob("*.py")))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

LONGEST_FILE = 300
LONGEST_FUNCTION = 50
MOST_FILES = 16


def place(path: Path, line: int = 0) -> str:
    return f"{path.relative_to(ROOT)}:{line}" if line else str(path.relative_to(ROOT))


def test_no_file_is_long() -> None:
    lengths = {place(path): len(path.read_text("utf-8").splitlines()) for path in CHECKED}

    assert {name: n for name, n in lengths.items() if n > LONGEST_FILE} == {}


def test_no_folder_is_full() -> None:
    files = Counter(place(path.parent) for path in SOURCES)

    assert {name: n for name, n in files.items() if n > MOST_FILES} == {}


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without signature (some are torch's) and docstring."""
    documented = ast.get_docstring(function) is not None
    statements = function.body[documented:]
    if not statements:
        return 0
    return (statements[-1].end_lineno or 0) - statements[0].lineno + 1


def test_no_function_is_long() -> None:
    offenders = {
        f"{place(path, function.lineno)} {function.name}": lines_of_code(function)
        for path in CHECKED
        for function in functions(path)
        if lines_of_code(function) > LONGEST_FUNCTION
    }

    assert offenders == {}


def test_every_source_file_begins_with_what_it_is() -> None:
    without = [
        place(path)
        for path in CHECKED
        if ast.get_docstring(ast.parse(path.read_text("utf-8"))) is None
    ]

    assert without == []


def test_every_room_begins_with_what_happens_in_it() -> None:
    rooms = [path for path in PACKAGE.glob("*/__init__.py") if path.parent.name != "examples"]
    said = {path.parent.name: ast.get_docstring(ast.parse(path.read_text())) for path in rooms}

    assert [room for room, text in said.items() if len((text or "").splitlines()) < 5] == []


def test_a_class_name_means_one_thing() -> None:
    defined: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                defined.setdefault(node.name.lstrip("_"), []).append(place(path, node.lineno))

    assert {name: places for name, places in defined.items() if len(places) > 1} == {}


DANGEROUS = re.compile(
    r"^\s*(?:import|from) (?:pickle|cPickle|marshal|shelve|dill|cloudpickle)\b"
    r"|\b(?:pickle|marshal|shelve|dill|cloudpickle)\.(?!UnpicklingError)\w+"
    r"|(?<![\w.])(?:eval|exec)\("
    r"|\byaml\.(?:unsafe_)?load\b|shell=True|os\.system\(|allow_pickle=True"
    r"|weights_only=False",
    re.MULTILINE,
)
ALLOWED = {
    ("smtc_lab/dataservice/protocol/pickles.py", "import pickle"): "what its own workers send",
    ("smtc_lab/dataservice/protocol/pickles.py", "pickle.dumps"): "as above",
    ("smtc_lab/dataservice/protocol/pickles.py", "pickle.loads"): "as above, or where allowed",
    ("smtc_lab/dataservice/protocol/pickles.py", "allow_pickle=True"): "how that is allowed",
    ("smtc_lab/runtime/checkpoint.py", "import pickle"): "only to name the error of torch.load",
    (
        "smtc_lab/compiler/inductor/compile_failure.py",
        "import pickle",
    ): "only to name a cache's error",
} | dict.fromkeys(
    [
        ("smtc_lab/compiler/choosing/apart.py", use)
        for use in ("import pickle", "pickle.dumps", "pickle.loads", "pickle.PicklingError")
    ],
    "between a process and its own copy, over a pair of sockets that nobody else can reach",
)
_PACKING = (
    *("import pickle", "pickle.PickleBuffer", "pickle.PicklingError"),
    *("import cloudpickle", "cloudpickle.Pickler", "cloudpickle.cloudpickle"),
)
ALLOWED |= dict.fromkeys(
    [
        *(("smtc_lab/dataservice/recipe/packing.py", use) for use in _PACKING),
        ("smtc_lab/dataservice/recipe/rebuilding.py", "import pickle"),
        ("smtc_lab/dataservice/recipe/rebuilding.py", "pickle.PickleBuffer"),
        ("smtc_lab/dataservice/recipe/opening.py", "import pickle"),
        ("smtc_lab/dataservice/recipe/opening.py", "pickle.Unpickler"),
    ],
    "what a trainer sends of a loader, opened where it has proved the job's secret",
)
ALLOWED["smtc_lab/runtime/run_script.py", "exec("] = "the job's own script"


def test_nothing_that_runs_foreign_code_is_used() -> None:
    found = {
        (place(path), match[0].strip()): match.start()
        for path in CHECKED
        for match in DANGEROUS.finditer(path.read_text("utf-8"))
    }

    assert set(found) <= set(ALLOWED)
    assert set(ALLOWED) <= set(found), "an allowance that nobody needs"


def test_what_is_dangerous_would_be_found() -> None:
    for line in (
        "import pickle",
        "x = pickle.loads(y)",
        "  eval(x)",
        "yaml.load(f)",
        "a = exec(b)",
    ):
        assert DANGEROUS.search(line)
    for line in (
        "model.eval()",
        "re.compile(x)",
        "retrieval(x)",
        "yaml.safe_load(f)",
        "# pickled",
    ):
        assert not DANGEROUS.search(line)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_outputs_and_only_literal_parameters(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]

    assert cells[0]["cell_type"] == "markdown"
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"]] == []
    assert [
        cell
        for cell in code
        if any(line.startswith(("def ", "class ")) for line in cell["source"])
    ] == []
    (parameters,) = (cell for cell in code if "parameters" in cell["metadata"].get("tags", []))
    assert parameters is code[0]
    for statement in ast.parse("".join(parameters["source"])).body:
        assert isinstance(statement, ast.Assign)
        ast.literal_eval(statement.value)


def test_there_are_notebooks() -> None:
    assert {"compare_clusters", "bench_overhead"} <= {path.stem for path in NOTEBOOKS}
