"""Runs lanes of ``make test-deep`` one after the other, and keeps how each ended.

``python -m tests.kit.deep [lane ...]``; without a lane all of them. What a lane prints is in
``build/deep/LANE.log``, how it ended in ``build/deep.json`` beside the lanes of earlier runs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.machine.environments.named import XLA, find_environment, has_environment
from tests.kit.lanes import ANY, table

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
NEWEST = ".venv-newest"
CORE = [f"tests/{it}" for it in ("compiler", "dataservice", "parallel", "runtime", "store")]
"""What runs on an instance, and so under the torch of any environment."""
EXPORTS = ["mlflow-skinny", "sqlalchemy", "alembic", "pyarrow", "pandas"]
"""What users may have and we do not: without it, the tests of it are skipped."""
OF_EXPORTS = [
    "tests/store/test_logged.py",
    "tests/views/test_export_mlflow.py",
    "tests/views/test_export_zip.py",
    "tests/views/test_run_comparison.py",
]
OF_LIGHTNING = (
    "tests/scripts_of_others/test_resumed.py"
    "::test_lightning_goes_on_with_the_first_batches_of_its_epoch"
)
LANES = [*table()[1], "exports", "oldest", "newest"]
_COUNTED = ("passed", "failed", "error", "skipped")
_SUMMARY = re.compile(r"^=+ (.*) in [0-9.]+s(?: \([0-9:]+\))? =+$", re.MULTILINE)


def commands(lane: str) -> list[list[str]]:
    """Return what a lane runs; the oldest torch is that of XLA's environment.

    The newest one is that of ``constraints.txt``, a CUDA build, in a ``.venv-newest``. For
    exports and Lightning, uv lays what they need over this environment, which stays as it is.
    """
    plain = [sys.executable, "-m", "pytest", f"--lane={lane}"]
    if lane == "exports":
        return [[*_laid_over(EXPORTS), "-m", "pytest", *OF_EXPORTS]]
    if lane == "scripts":
        return [plain, [*_laid_over(["lightning"]), "-m", "pytest", OF_LIGHTNING]]
    if lane == "newest":
        make = ["make", "front", f"VENV={NEWEST}", "TORCH=newest"]
        return [make, [f"{NEWEST}/bin/python", "-m", "pytest", *CORE, "tests/examples"]]
    if lane not in {"xla", "oldest"}:
        return [plain]
    # which has no smtc_lab of its own
    there = ["env", f"PYTHONPATH={ROOT}", find_environment(XLA).python, "-m", "pytest"]
    if lane == "oldest":
        return [[*there, "-m", "not xla", *CORE]]
    return [plain, [*there, f"--lane={ANY}", "-m", "xla", "tests/compiler", "tests/runtime"]]


def _laid_over(packages: Sequence[str]) -> list[str]:
    """Return what runs Python in this environment with packages that it lacks."""
    uv = Path(sys.executable).with_name("uv")
    beside = [f"--with={name}" for name in packages]
    return [str(uv), "run", "--no-project", "--python", sys.executable, *beside, "python"]


def counted(printed: str) -> Counter[str]:
    """Return how many tests passed, failed and were left out, by pytest's last lines."""
    found = re.findall(r"(\d+) (\w+)", " ".join(_SUMMARY.findall(printed)))
    counts = Counter[str]()
    for num, word in found:
        counts[word.removesuffix("s")] += int(num)
    return counts


def run_lane(lane: str, folder: Path) -> dict[str, Any]:
    """Run a lane; return its counts, its seconds and whether it is green."""
    begin_s, counts, is_green = time.monotonic(), Counter[str](), True
    log = folder / f"{lane}.log"
    log.write_text("", encoding="utf-8")
    for command in commands(lane):
        offset = log.stat().st_size
        with log.open("a", encoding="utf-8") as file:
            code = subprocess.run(  # noqa: S603  our own tests
                command, cwd=ROOT, stdout=file, stderr=file, check=False
            ).returncode
        counts += counted(log.read_text(encoding="utf-8", errors="replace")[offset:])
        is_green &= code == 0
    return {
        **{word: counts[word] for word in _COUNTED},
        "seconds": round(time.monotonic() - begin_s),
        "is_green": is_green,
    }


def main(lanes: Sequence[str]) -> int:
    """Run lanes; return 0 if all are green."""
    if unknown := [lane for lane in lanes if lane not in LANES]:
        sys.exit(f"There is no lane {unknown[0]!r}. Choose among {', '.join(LANES)}.")
    folder, kept = ROOT / "build/deep", ROOT / "build/deep.json"
    folder.mkdir(parents=True, exist_ok=True)
    if {"xla", "oldest"} & set(lanes or LANES) and not has_environment(XLA):
        subprocess.run(["make", "xla"], cwd=ROOT, check=True)  # noqa: S607  of the machine
    ended: dict[str, Any] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    for lane in lanes or LANES:
        ended[lane] = result = run_lane(lane, folder)
        kept.write_text(json.dumps(ended, indent=2) + "\n", encoding="utf-8")
        failed = result["failed"] + result["error"]
        log = "" if result["is_green"] else f"; RED, see {folder / lane}.log"
        said = f"{lane}: {result['passed']} passed, {failed} failed, {result['seconds']} s"
        sys.stdout.write(f"{said}{log}\n")
        sys.stdout.flush()
    return 0 if all(ended[lane]["is_green"] for lane in lanes or LANES) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
