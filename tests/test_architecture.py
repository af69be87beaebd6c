"""What the code as a whole promises: who imports whom, and what that costs."""

from __future__ import annotations

import ast
import importlib
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
    from smtc_lab.metrics.records.records import RunRecords

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "smtc_lab"
SOURCES = sorted(PACKAGE.rglob("*.py"))

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


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = f"""
        import sys
        before = set(sys.modules)
        import smtc_lab
        print(*sorted(set({HEAVY + JUPYTER!r}) & (set(sys.modules) - before)))
    """

    assert run_python(program).split() == []


def test_a_supervisor_of_local_instances_starts_with_nothing_heavy() -> None:
    program = f"""
        import sys
        import smtc_lab.launchers.supervision.supervisor
        import smtc_lab.launchers.local.instances
        print(*sorted(set({HEAVY + JUPYTER!r}) & set(sys.modules)))
    """

    kept_with = {"apsw", "typing"}
    assert set(run_python(program).split()) <= kept_with


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
