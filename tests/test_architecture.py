"""What the code as a whole promises: who imports whom, how long things are, what is unused."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import smtc_lab
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import RunState, write_state
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import jittered, run_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.metrics.records.records import RunRecords

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "smtc_lab"
SOURCES = sorted(PACKAGE.rglob("*.py"))
UNSHIPPED = [ROOT / "tests" / "kit", ROOT / "notebooks" / "benchmarks"]
CHECKED = [*SOURCES, *(path for folder in UNSHIPPED for path in sorted(folder.rglob("*.py")))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

LONGEST_FILE = 300
LONGEST_FUNCTION = 50

HEAVY = [
    "torch",
    "torch_xla",
    "numpy",
    "scipy",
    "pydantic",
    "apsw",
    "psutil",
    "click",
    "typing",
]
JUPYTER = [
    "IPython",
    "ipywidgets",
    "anywidget",
    "jupyter_server",
    "jupyterlab",
    "papermill",
    "tornado",
]
ENGINES = ["torch", "torch_xla", "ray", "boto3"]
DOORS = ["smtc_lab", "smtc_lab.catalog", "smtc_lab.dataservice"]
ABOVE_VIEWS = {"views", "cli", "examples"}


def run_python(program: str, *arguments: str | Path) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def place(path: Path, line: int = 0) -> str:
    return f"{path.relative_to(ROOT)}:{line}" if line else str(path.relative_to(ROOT))


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = f"""
        import sys
        before = set(sys.modules)
        import smtc_lab
        print(*sorted(set({HEAVY + JUPYTER!r}) & (set(sys.modules) - before)))
    """

    assert run_python(program).split() == []


def test_every_public_name_is_there() -> None:
    for name in smtc_lab.__all__:
        assert getattr(smtc_lab, name) is not None
    assert set(smtc_lab.__all__) <= set(dir(smtc_lab))
    assert smtc_lab.__version__ == "0.1.0"
    with pytest.raises(AttributeError, match="'smtc_lab' has no attribute 'fly'"):
        smtc_lab.fly  # noqa: B018  the look-up is the point


@pytest.mark.parametrize("door", DOORS)
def test_type_checkers_find_what_is_loaded_when_asked_for(door: str) -> None:
    package = importlib.import_module(door)
    tree = ast.parse(Path(str(package.__file__)).read_text("utf-8"))
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))

    homes = {
        name.asname: node.module
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert homes == package._HOMES
    assert homes.keys() <= set(package.__all__)


def test_the_import_contracts_hold() -> None:
    program = Path(sysconfig.get_path("scripts")) / "lint-imports"

    ended = subprocess.run(
        [program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ended.returncode == 0, ended.stdout


def blocked(names: list[str]) -> str:
    return f"import sys\nfor name in {names!r}:\n    sys.modules[name] = None\n"


def test_nothing_below_the_views_imports_jupyter() -> None:
    below = [
        module_name(path)
        for path in SOURCES
        if path.relative_to(PACKAGE).parts[0] not in ABOVE_VIEWS
    ]
    assert len(below) > 50
    program = (
        blocked(JUPYTER) + "import importlib\nlist(map(importlib.import_module, sys.argv[1:]))"
    )

    run_python(program, *below)


FINISHED_RUN = """
    from pathlib import Path
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.launchers.run import Run
    from smtc_lab.metrics.compared.compare import compare_runs
    from smtc_lab.metrics.run_summary import summarize
    from smtc_lab.store.reader import read_run
    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.views.text.table import comparison_table

    run = read_run(RunFolder.open(Path(sys.argv[1])))
    print(run.state, summarize(run).steps)
    comparison = compare_runs(
        [run], catalog=Catalog.load(), created="2026-01-01T00:00:00+00:00", machine={}
    )
    print(comparison_table(comparison))
"""


def test_a_finished_run_is_read_and_compared_without_torch(tmp_path: Path) -> None:
    run = run_records(jittered(0.2))
    folder = write_run(tmp_path, run)

    said = run_python(blocked(ENGINES) + textwrap.dedent(FINISHED_RUN), folder)

    assert said.startswith("Completed ")
    assert run.label in said


def write_run(root: Path, run: RunRecords) -> Path:
    folder = RunFolder.create(root, str(run.job.job_name))
    folder.job_file.write_text(run.job.to_json(), encoding="utf-8")
    write_state(
        folder,
        RunState(
            state=run.state, started_s=run.started_s, ended_s=run.ended_s, facts=run.facts
        ),
    )
    for stem, steps in run.steps.items():
        with RecordWriter(folder.records / f"{stem}.sqlite") as writer:
            for step in steps:
                writer.append(step)
    for host, samples in run.system.items():
        with RecordWriter(folder.records / f"{host}-system.sqlite") as writer:
            for sample in samples:
                writer.append(sample)
    return folder.path


def test_no_file_is_long() -> None:
    lengths = {place(path): len(path.read_text("utf-8").splitlines()) for path in CHECKED}

    assert {name: n for name, n in lengths.items() if n > LONGEST_FILE} == {}


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


SAME_NAME = {
    "Mirror": "what is elsewhere, as it arrives here: an instance on Ray, a SageMaker job",
    "Place": "a line of a script is Place in reports; Ray's launcher calls a node so",
    "Watch": "over launches of a study, and over whatever a live view shows",
}
"""Class names that are defined twice, each with its reason."""


def test_a_class_name_means_one_thing() -> None:
    defined: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                defined.setdefault(node.name.lstrip("_"), []).append(place(path, node.lineno))

    repeated = {name: places for name, places in defined.items() if len(places) > 1}
    assert {name: places for name, places in repeated.items() if name not in SAME_NAME} == {}
    assert repeated.keys() == SAME_NAME.keys(), "an exception that nobody needs"


DANGEROUS = re.compile(
    r"^\s*(?:import|from) (?:pickle|cPickle|marshal|shelve|dill|cloudpickle)\b"
    r"|\b(?:pickle|marshal|shelve|dill|cloudpickle)\.(?!UnpicklingError)\w+"
    r"|(?<![\w.])(?:eval|exec)\("
    r"|\byaml\.(?:unsafe_)?load\b|shell=True|os\.system\(|allow_pickle=True"
    r"|weights_only=False",
    re.MULTILINE,
)
ALLOWED = {
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
