"""Compiled code is kept for later runs of this user: privately, bounded, never in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smtc_lab.compiler.inductor import cache as inductor_cache
from smtc_lab.compiler.inductor.cache import (
    CACHE_VARIABLE,
    cache_note,
    cache_root,
    leave_cache,
    use_cache,
)

COMPILE = """
import json, sys, torch
from pathlib import Path
from smtc_lab.compiler.inductor.backend import CompiledModel
from smtc_lab.compiler.inductor.cache import cache_note, use_cache
from smtc_lab.spec.compiler import TrainingCompilerConfig

if __name__ == "__main__":
    use_cache(enabled=True)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())
    torch.nn.init.constant_(model[0].weight, 0.1)
    torch.nn.init.zeros_(model[0].bias)
    CompiledModel(model, TrainingCompilerConfig(backend="inductor"))
    with torch.no_grad():
        value = float(model(torch.ones(4)).sum())
    from torch._dynamo.utils import counters
    hits = counters["aot_autograd"]["autograd_cache_hit"]
    print(json.dumps({"value": value, "hits": hits, "note": cache_note()}))
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path))
    monkeypatch.setenv(CACHE_VARIABLE, "")  # brings the variable back after the test
    return tmp_path


def compile_in_a_process(script: Path) -> dict[str, object]:
    script.write_text(COMPILE, encoding="utf-8")
    process = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    facts: dict[str, object] = json.loads(process.stdout)
    return facts


@pytest.mark.timeout(600)
def test_a_second_process_finds_the_code_and_damage_harms_none(tmp_path: Path) -> None:
    first = compile_in_a_process(tmp_path / "train.py")
    second = compile_in_a_process(tmp_path / "train.py")
    files = [it for it in cache_root().rglob("*") if it.is_file()]
    for file in files:
        file.write_bytes(b"damaged")
    third = compile_in_a_process(tmp_path / "train.py")

    assert any(it.suffix == ".so" for it in files)
    assert (first["hits"], second["hits"]) == (0, 1)
    assert first["value"] == second["value"] == third["value"]


def test_the_folder_is_absolute_and_private(home: Path) -> None:
    assert use_cache(enabled=True) is None

    folder = Path(os.environ[CACHE_VARIABLE])
    assert folder.is_absolute()
    assert folder.parent == home / "inductor"
    assert folder.stat().st_mode & 0o077 == 0


def test_a_cache_that_others_could_write_to_is_closed_to_them(home: Path) -> None:
    (home / "inductor").mkdir(mode=0o777)
    (home / "inductor").chmod(0o777)

    use_cache(enabled=True)

    assert (home / "inductor").stat().st_mode & 0o077 == 0


def test_a_cache_that_is_no_folder_is_told_and_not_used(home: Path) -> None:
    (home / "inductor").write_text("", encoding="utf-8")

    note = use_cache(enabled=True)

    assert note is not None
    assert "cannot be used" in note
    assert note == cache_note()
    assert not Path(os.environ[CACHE_VARIABLE]).is_relative_to(home)


@pytest.mark.timeout(300)
def test_code_is_compiled_where_the_cache_would_lie_below_a_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "ann lee"))

    facts = compile_in_a_process(tmp_path / "train.py")

    assert facts["value"] is not None
    assert "cannot be used (its path has a space" in str(facts["note"])


def test_without_a_cache_the_code_lies_in_a_passing_folder(home: Path) -> None:
    assert use_cache(enabled=False) is None

    assert Path(os.environ[CACHE_VARIABLE]).is_dir()
    assert not (home / "inductor").exists()


def test_a_cache_of_the_environment_is_kept_and_made_absolute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, "mine")

    use_cache(enabled=True)

    assert os.environ[CACHE_VARIABLE] == str(Path.cwd() / "mine")


def test_leaving_a_full_cache_empties_it_and_says_so(home: Path) -> None:
    use_cache(enabled=True)
    folder = Path(os.environ[CACHE_VARIABLE])

    assert leave_cache(OSError(28, "No space left on device"))
    assert not folder.exists()
    assert "No space left on device" in (cache_note() or "")
    assert not leave_cache(OSError(28, "No space left on device"))
    assert home.exists()


def test_files_that_were_not_used_for_longest_go_first(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inductor_cache, "MOST_BYTES", 1000)
    folder = home / "inductor" / "kind"
    folder.mkdir(parents=True)
    day_s = 24 * 3600
    for name, age_s in (("oldest", 3 * day_s), ("old", 2 * day_s), ("used", 0)):
        (folder / name).write_bytes(b"x" * 600)
        then = time.time() - age_s
        os.utime(folder / name, (then, then))

    use_cache(enabled=True)

    assert {it.name for it in folder.iterdir()} == {"used"}
