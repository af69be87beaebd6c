from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from smtc_lab.compiler.inductor import debug_folder
from smtc_lab.compiler.inductor.debug_folder import DebugFolder

if TYPE_CHECKING:
    from pathlib import Path

COMPILES = """
    import sys
    from pathlib import Path

    import torch

    from torch._inductor.cpu_vec_isa import VecISA

    from smtc_lab.compiler.inductor.debug_folder import DebugFolder

    VecISA.check_build = lambda *_: True  # it imports torch in three processes more

    def traced(x):
        print("a graph ends here")
        return x * 2

    folder = DebugFolder(Path(sys.argv[1]), rank=0)
    folder.prepare()
    compiled = torch.compile(traced, backend="aot_eager")
    for size in (3, 5):
        compiled(torch.ones(size))
    torch.compile(lambda x: (x * 2 + 1).relu().sum())(torch.ones(3))
    folder.close()
"""


@pytest.mark.timeout(300)
def test_what_inductor_makes_of_a_model_lies_there_by_name(
    tmp_path: Path, code_cache: str
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(COMPILES), str(tmp_path)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "TORCHINDUCTOR_CACHE_DIR": code_cache},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    own = tmp_path / "rank0"
    (graph,) = [path for path in own.iterdir() if path.is_dir()]
    assert graph.name == "000-inference"
    assert {path.name for path in graph.iterdir()} == set(debug_folder._NAMES.values())
    assert "relu" in (graph / "graph.py").read_text(encoding="utf-8")
    assert "cpp" in (graph / "generated-code.py").read_text(encoding="utf-8")
    assert "GUARDS" in (own / "guards.txt").read_text(encoding="utf-8")
    assert "expected 3, actual 5" in (own / "recompilations.txt").read_text(encoding="utf-8")
    assert "print" in (own / "graph-breaks.txt").read_text(encoding="utf-8")
    assert "GUARDS" not in ended.stderr
    assert "Recompiling" not in ended.stderr


def test_graphs_are_numbered_in_the_order_of_compiling(tmp_path: Path) -> None:
    own = tmp_path / "rank0"

    def compile_graphs(*names: str) -> None:
        for name in names:
            (own / "run_2026_11_21_20_00_09_901683-pid_7" / "torchinductor" / name).mkdir(
                parents=True
            )

    folder = DebugFolder(tmp_path, rank=0)
    compile_graphs("model__0_backward_3.1", "model__0_forward_1.0")
    folder.tidy()
    compile_graphs("model__1_forward_11.3", "model__1_inference_9.2")
    folder.close()

    assert sorted(path.name for path in own.iterdir()) == [
        "000-forward",
        "001-backward",
        "002-inference",
        "003-forward",
    ]


def test_the_folder_says_what_is_what() -> None:
    for name in (*debug_folder._NAMES.values(), *debug_folder._LOGS.values()):
        assert name in debug_folder._README


def test_a_large_folder_loses_the_least_telling_files_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debug_folder, "MOST_BYTES", 450)
    for number in range(2):
        graph = tmp_path / "rank0" / f"00{number}-forward"
        graph.mkdir(parents=True)
        for name in ("loops-before-fusion.txt", "generated-code.py", "graph.py"):
            (graph / name).write_text("x" * 100, encoding="utf-8")

    DebugFolder(tmp_path, rank=0).tidy()

    own = tmp_path / "rank0"
    assert sorted(path.relative_to(own).as_posix() for path in own.rglob("*.*")) == [
        "000-forward/generated-code.py",
        "000-forward/graph.py",
        "001-forward/generated-code.py",
        "001-forward/graph.py",
        "not-kept.txt",
    ]
    assert (own / "not-kept.txt").read_text(encoding="utf-8").splitlines() == [
        "001-forward/loops-before-fusion.txt",
        "000-forward/loops-before-fusion.txt",
    ]


def test_a_folder_that_was_never_prepared_can_be_closed(tmp_path: Path) -> None:
    DebugFolder(tmp_path, rank=0).close()

    assert list(tmp_path.iterdir()) == []
