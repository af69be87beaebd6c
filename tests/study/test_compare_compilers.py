"""Comparisons of compilers through real runs of a script that only plays the compiler."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError, SpecError
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.study.comparison.compare_compilers import compare_compilers
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.folder import studies_root

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.study.watched_run import Progress

PLAYED = """
    import json, os, sys, time
    from pathlib import Path
    from smtc_lab.runtime.instance_runtime import instance_runtime

    backend = json.loads(os.environ["SMTC_COMPILER"])["backend"]
    if backend in os.environ.get("FAILS", ""):
        raise ValueError(f"{backend} has no such operator")
    class Clock:  # each step takes what it sleeps, on a machine however busy
        now_s = time.time()
        time = perf_counter = lambda self: self.now_s
        def sleep(self, seconds):
            time.sleep(seconds)
            self.now_s += seconds
    timer = instance_runtime().timer
    timer.clock = Clock()
    while not timer.is_done:
        timer.ask()
        timer.clock.sleep(0.002 if backend == "inductor" else 0.01)
        timer.got(8)
        timer.end()
    if "SMTC_PARITY_STEPS" in os.environ:
        import numpy as np

        steps = int(os.environ["SMTC_PARITY_STEPS"])
        off = 1e-7 * int(os.environ["OMP_NUM_THREADS"])
        off += float(os.environ.get("OFF", 0)) if backend == "inductor" else 0.0
        folder = Path(os.environ["SAGEMAKER_BASE_DIR"], "output", "data", "compiler")
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(
            folder / "parity-rank0.npz",
            losses=np.linspace(2, 1, steps) * (1 + off),
            names=np.array(["layer.weight"]),
            norms=np.full((steps, 1), 1 + off),
            **{"weight:layer.weight": np.full(4, 1 + off, dtype=np.float32)},
        )
        (folder / "parity-rank1.npz").touch()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(PLAYED), encoding="utf-8")
    return path


def test_compilers_are_compared_and_checked_against_eager(script: Path, root: Path) -> None:
    seen: list[Progress] = []

    outcome = compare_compilers(
        script,
        backends=["eager", "inductor"],
        steps=20,
        rounds=1,
        root=root,
        progress=seen.append,
    )

    comparison = outcome.comparison
    assert [cluster.name for cluster in comparison.clusters] == ["eager", "inductor"]
    assert comparison.evidence == "measured"
    assert comparison.clusters[0].cpu_quota_mechanism == "none"
    assert comparison.clusters[0].usd_per_1000_steps is None
    assert comparison.speedup is not None
    assert comparison.speedup.mean == pytest.approx(5, rel=1e-3)
    compiler = comparison.clusters[1].compiler
    assert compiler is not None
    assert compiler.config == TrainingCompilerConfig(backend="inductor")
    assert compiler.parity is not None
    assert compiler.parity.equal is True
    assert compiler.parity.steps == 8
    assert compiler.parity.noise_loss_difference == pytest.approx(1e-7, rel=0.01)
    assert {progress.cluster for progress in seen} <= {
        "eager",
        "inductor",
        "eager, parity",
        "other threads, parity",
        "inductor, parity",
    }
    assert seen[-1].launch == seen[-1].launches == 5
    assert list(root.rglob("parity-rank*.npz")) == []
    (study,) = studies_root(root).iterdir()
    rounds = [run.round for run in ComparisonRun.open(str(study)).state.runs]
    assert rounds == [1, 1, None, None, None]


def test_a_compiler_that_trains_another_model_is_told(script: Path, root: Path) -> None:
    comparison = compare_compilers(
        script,
        backends=["eager", "inductor"],
        steps=20,
        rounds=1,
        root=root,
        environment={"OFF": "0.1"},
    ).comparison

    compiler = comparison.clusters[1].compiler
    assert compiler is not None
    assert compiler.parity is not None
    assert compiler.parity.equal is False
    assert "layer.weight" in compiler.parity.verdict


def test_a_compiler_that_fails_is_left_out_and_the_others_are_compared(
    script: Path, root: Path
) -> None:
    comparison = compare_compilers(
        script,
        backends=["eager", "xla", "inductor"],
        config=TrainingCompilerConfig(fallback="eager"),
        steps=20,
        rounds=2,
        root=root,
        parity=False,
        environment={"FAILS": "xla"},
    ).comparison

    assert [cluster.name for cluster in comparison.clusters] == ["eager", "inductor"]
    assert [cluster.launches for cluster in comparison.clusters] == [2, 2]
    (warning,) = [text for text in comparison.warnings if text.startswith("xla ")]
    assert "xla was left out: Launch 2 of 6 (xla) ended as Failed" in warning
    assert "ValueError: xla has no such operator" in warning
    assert str(root) not in warning


@pytest.mark.parametrize(
    ("fails", "message"),
    [
        ("eager", r"Launch 1 of 2 \(eager\) ended as Failed"),
        ("inductor", r"Nothing is left to compare.*inductor has no such operator"),
    ],
)
def test_without_a_baseline_or_a_rival_there_is_no_comparison(
    script: Path, root: Path, fails: str, message: str
) -> None:
    with pytest.raises(RunFailedError, match=message):
        compare_compilers(
            script,
            backends=["eager", "inductor"],
            steps=5,
            rounds=1,
            root=root,
            environment={"FAILS": fails},
        )


def test_what_cannot_run_is_refused_before_anything_is_started(
    tmp_path: Path, root: Path
) -> None:
    with pytest.raises(SpecError, match=r"nowhere\.py"):
        compare_compilers(tmp_path / "nowhere.py", backends=["eager"], root=root)

    assert not root.exists()
