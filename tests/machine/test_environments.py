"""Environments of real virtual environments, and what is said of those that are none."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path

import pytest

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.environments.make import make_environment
from smtc_lab.machine.environments.named import (
    add_environment,
    environments,
    environments_root,
    find_environment,
    folder_of,
    has_environment,
    remove_environment,
)
from smtc_lab.machine.environments.packages import installed_packages
from smtc_lab.machine.environments.probe import environment_facts, todays_facts
from smtc_lab.machine.environments.shown_package import show_package
from tests.kit.environments import borrowing_venv


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "all of them"
    monkeypatch.setenv("SMTC_LAB_ENVIRONMENTS", str(root))
    return root


def interpreter(path: Path, program: str) -> Path:
    """Write a stand-in for an interpreter that cannot be had here: it only says what it is."""
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{textwrap.dedent(program)}", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_without_any_there_is_today_alone() -> None:
    assert environments() == []
    assert environment_facts(None) == environment_facts("today") == todays_facts()
    assert todays_facts().python == sys.executable
    assert todays_facts().packages["numpy"]


def test_an_existing_one_gets_a_name_and_keeps_its_own_versions(tmp_path: Path) -> None:
    python = borrowing_venv(tmp_path / "a venv", torch="2.10.0", odd_one="1")

    added = add_environment("old", tmp_path / "a venv")

    assert added == find_environment("old")
    assert (added.python, added.made_from) == (str(python), None)
    facts = environment_facts("old")
    assert facts.torch == "2.10.0"
    assert facts.packages["odd-one"] == "1"
    assert facts.packages["numpy"] == todays_facts().packages["numpy"]
    assert facts.version == todays_facts().version


def test_an_interpreter_is_as_good_as_its_folder(tmp_path: Path) -> None:
    python = borrowing_venv(tmp_path / "venv")

    assert add_environment("lab", python).python == str(python)


def test_what_is_installed_later_is_seen(tmp_path: Path) -> None:
    borrowing_venv(tmp_path / "venv")
    add_environment("lab", tmp_path / "venv")
    assert "brand-new" not in environment_facts("lab").packages

    (own,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (own / "brand_new-3.dist-info").mkdir()

    assert environment_facts("lab").packages["brand-new"] == "3"


def test_what_a_job_needs_is_named_with_one_command(tmp_path: Path) -> None:
    python = borrowing_venv(tmp_path / "venv")
    for pth in (tmp_path / "venv").glob("lib/python3*/site-packages/*.pth"):
        pth.unlink()
    add_environment("bare", tmp_path / "venv")

    with pytest.raises(
        PythonEnvironmentError,
        match=rf"'bare' has no apsw, .*torch, .* Run: uv pip install --python {python} 'apsw>=",
    ):
        environment_facts("bare")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"version": [3, 10], "python": "3.10.1"}, r"CPython 3\.10\.1, but .* 3\.11 or newer"),
        ({"implementation": "PyPy"}, r"PyPy 3\.12\.0, but a job needs CPython"),
        ({"packages": None}, r"does not answer as a Python does \(TypeError\)"),
    ],
)
def test_an_unfit_interpreter_is_refused(
    tmp_path: Path, told: dict[str, object], said: str
) -> None:
    fit = {
        "python": "3.12.0",
        "version": [3, 12],
        "implementation": "CPython",
        "packages": {},
        "missing": [],
    }
    python = interpreter(tmp_path / "bin" / "python", f"echo '{json.dumps(fit | told)}'\n")
    add_environment("other", python)

    with pytest.raises(PythonEnvironmentError, match=said):
        environment_facts("other")


def test_what_is_no_python_says_what_it_said(tmp_path: Path) -> None:
    add_environment("odd", interpreter(tmp_path / "bin" / "python", "echo no >&2; exit 3\n"))

    with pytest.raises(PythonEnvironmentError, match=r"does not answer .* \(no\)\. Remove it"):
        environment_facts("odd")


def test_an_environment_whose_interpreter_is_gone_says_how_it_comes_back(
    tmp_path: Path,
) -> None:
    borrowing_venv(tmp_path / "venv")
    add_environment("lab", tmp_path / "venv")
    environment_facts("lab")

    shutil.rmtree(tmp_path / "venv")

    with pytest.raises(
        PythonEnvironmentError,
        match=r"cannot be started \(No such file.*'smtc-lab environment add lab FOLDER'",
    ):
        environment_facts("lab")


def test_an_unknown_name_gets_a_hint(tmp_path: Path) -> None:
    with pytest.raises(
        PythonEnvironmentError, match=r"no environment named 'xla'. There are: today\."
    ):
        find_environment("xla")
    borrowing_venv(tmp_path / "venv")
    add_environment("torch-2.9", tmp_path / "venv")

    with pytest.raises(PythonEnvironmentError, match=r"Did you mean 'torch-2\.9'\?"):
        find_environment("torch2.9")


@pytest.mark.parametrize("name", ["", "today", "../up", "a b", "-x", "x" * 64])
def test_what_cannot_be_a_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(PythonEnvironmentError, match="cannot be the name of an environment"):
        add_environment(name, tmp_path)


def test_a_folder_without_an_interpreter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PythonEnvironmentError, match="has no interpreter at"):
        add_environment("lab", tmp_path)

    assert not has_environment("lab")


def test_a_name_stands_for_one_environment(tmp_path: Path) -> None:
    borrowing_venv(tmp_path / "venv")
    add_environment("lab", tmp_path / "venv")

    with pytest.raises(PythonEnvironmentError, match=r"'lab' is there already .* remove lab"):
        add_environment("lab", tmp_path / "venv")


def test_removing_a_name_leaves_what_existed_before(tmp_path: Path) -> None:
    python = borrowing_venv(tmp_path / "venv")
    add_environment("lab", tmp_path / "venv")

    remove_environment("lab")

    assert python.exists()
    assert environments() == []
    with pytest.raises(PythonEnvironmentError, match="There is no environment named 'lab'"):
        remove_environment("lab")


def test_a_damaged_file_is_left_out_and_told(tmp_path: Path) -> None:
    borrowing_venv(tmp_path / "venv")
    add_environment("lab", tmp_path / "venv")
    (folder_of("lab") / "environment.json").write_text('{"name":', encoding="utf-8")

    assert environments() == []
    with pytest.raises(PythonEnvironmentError, match=r"'lab' cannot be read .* make it again"):
        find_environment("lab")


def test_a_torch_xla_of_another_torch_is_told(tmp_path: Path) -> None:
    borrowing_venv(tmp_path / "fits", torch="2.9.1+cpu", torch_xla="2.9.0")
    borrowing_venv(tmp_path / "not", torch="2.15.0", torch_xla="2.9.0")
    borrowing_venv(tmp_path / "none", torch="2.15.0")
    for name in ("fits", "not", "none"):
        add_environment(name, tmp_path / name)

    assert environment_facts("fits").why_not_xla is None
    assert "torch_xla 2.9.0, which was built for another torch than its 2.15.0" in str(
        environment_facts("not").why_not_xla
    )
    if todays_facts().packages.get("torch-xla") is None:
        assert environment_facts("none").why_not_xla == (
            "the environment 'none' has no torch_xla"
        )


def test_what_cannot_be_made_leaves_nothing(tmp_path: Path, root: Path) -> None:
    wanted = tmp_path / "wanted.txt"
    wanted.write_text("no-such-thing @ file:///nowhere/no_such_thing-1.zip\n", encoding="utf-8")
    said: list[str] = []

    with pytest.raises(PythonEnvironmentError, match=r"'mine' cannot be made; uv said: .*"):
        make_environment("mine", requirements=wanted, say=said.append)

    assert said == ["Resolving the packages of 'mine'."]
    assert not (root / "mine").exists()
    assert environments() == []


def test_how_to_make_it_must_be_known(tmp_path: Path) -> None:
    with pytest.raises(
        PythonEnvironmentError, match=r"Give a requirements file: .*'torch-2.11'"
    ):
        make_environment("mine")
    with pytest.raises(PythonEnvironmentError, match=r"cannot be read .*Correct the path"):
        make_environment("mine", requirements=tmp_path / "none.txt")


def test_an_existing_one_is_not_made_over(tmp_path: Path) -> None:
    borrowing_venv(tmp_path / "venv")
    add_environment("xla", tmp_path / "venv")

    with pytest.raises(PythonEnvironmentError, match=r"'xla' stands for .*not made here"):
        make_environment("xla")


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SMTC_LAB_ENVIRONMENTS", str(tmp_path / "file" / "below"))

    with pytest.raises(
        PythonEnvironmentError, match=r"cannot be written.*SMTC_LAB_ENVIRONMENTS"
    ):
        make_environment("xla")
    borrowing_venv(tmp_path / "venv")
    with pytest.raises(
        PythonEnvironmentError, match=r"cannot be written.*SMTC_LAB_ENVIRONMENTS"
    ):
        add_environment("lab", tmp_path / "venv")


def test_environments_lie_beside_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SMTC_LAB_ENVIRONMENTS")
    monkeypatch.setenv("SMTC_LAB_HOME", "/somewhere")

    assert environments_root() == Path("/somewhere/environments")


def test_the_first_folder_that_has_a_package_counts(tmp_path: Path) -> None:
    for name in ("a/torch-2.1.dist-info", "b/torch-2.0.dist-info", "b/Foo.Bar_baz-1.egg-info"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "b" / "no_version.dist-info").mkdir()

    found = installed_packages([str(tmp_path / "a"), str(tmp_path / "b"), "/nowhere"])

    assert found == {"foo-bar-baz": "1", "torch": "2.1"}


def test_the_shown_folder_holds_this_package_alone(tmp_path: Path) -> None:
    show_package(tmp_path / "shown")
    show_package(tmp_path / "shown")

    (only,) = (tmp_path / "shown").iterdir()
    assert only.name == "smtc_lab"
    assert (only / "machine" / "environments" / "named.py").samefile(
        Path(sys.modules[find_environment.__module__].__file__ or "")
    )


@pytest.mark.parametrize("name", ["torch-1.0", "torch-2.8.1"])
def test_a_torch_that_no_job_runs_on_is_refused_before_anything_is_made(name: str) -> None:
    with pytest.raises(PythonEnvironmentError, match=r"is older than 2\.9, the oldest one"):
        make_environment(name)
    assert environments() == []
