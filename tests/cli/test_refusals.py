"""What a command line says before anything is started, of all that is wrong with it."""

from __future__ import annotations

import json
import shlex
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.planner.workload_hash import workload_hash
from tests.kit.calibrations import calibration
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.kit.golden_texts import GoldenTexts

NET = """
import torch

def setup():
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Linear(16, 1))
    return model, (torch.zeros(8, 4), torch.zeros(8, 1)), torch.nn.functional.mse_loss

def nothing():
    return None
"""

REFUSED = {
    "compare": """
        train.py
        --cluster nonsense --cluster a=ml.p3.2xlarge:0,a=ml.p3.2xlarge:1
            --cluster a=ml.p9.2xlarge:1 --steps 0 --rounds 0 --seed -1 --price cheap
            --cpu-speed c5 -p lr -p a/b=1 --device-time -1 --json . nowhere/train.txt
        --cluster a=ml.p9.2xlarge:1 --rounds 0 --report /proc/nowhere/report.html
            nowhere/train.py
        --cluster a=local:1 --no-emulation --device-time 1 --scale 0.1 --cpu-speed c5=2
            --link between=1Gbit train.py
        --cluster dnn_group=ml.p3.2xlarge:1 --cluster dnn_group=ml.p3.2xlarge:1 train.py
        --cluster dnn_group=ml.p3.2xlarge:1 --data 1,2 --shard 1,2,4 train.py
        --cluster dnn_group=ml.p3.2xlarge:1 --shard 1,two train.py
        --cluster g=ml.p3.2xlarge:1 --data 2 train.py
        --cluster g=ml.p3.2xlarge:1 --microbatches 4 train.py
        --cluster g=ml.p3.2xlarge:4 --reduce-on auto train.py
        --cluster here=local:1 train.py --dummy
        --cluster here=local:1 --env NOT_SET_HERE --env 1ST=x train.py
        --fly
        --cluster a@g=ml.p3.2xlarge:1 --cluster b@g=ml.g4dn.xlarge:1
            --device-time V100=0.03,A100=0.012 train.py
        --compiler eager,tpu --rounds 0 --device-time 0.04 nowhere.py
        --cluster a=local:1 --precision bf16 --ablation --no-parity --fallback eager
            --debug-compiler train.py
        --cluster a=ml.p3.2xlarge:1 --compiler eager,inductor --device-time 0.04 train.py
    """,
    "scale": """
        --cluster g=ml.p3.2xlarge:1 --devices 1,2 --parity train.py
        --cluster g=ml.p3.2xlarge:1 --devices 1 --parity train.py
        --cluster g=ml.p3.2xlarge:1 --devices one train.py
        --cluster g=ml.p3.8xlarge:1 --devices 1,6 train.py
        --cluster g=ml.p3.2xlarge:1 --link between=1 train.py
        --cluster g=ml.p3.2xlarge:1 --devices 1,2,4 nowhere/train.py
        --cluster g=ml.p3.2xlarge:1 --pipeline 2 train.py
        --cluster g=ml.p3.2xlarge:1 --epochs 2 train.py
    """,
    "batch-size": """
        --memory-limit much --learning-rate 5e-5 -p lr --json . nowhere.py
    """,
    "bench": """
        underhead
        overhead -p repeats
    """,
    "memory": """
        setup
        net.py:other
        net.py:nothing
        net.py:setup --precision bf16
        net.py:setup --cheapest --utilization 3
    """,
    "plan": """
        --calibration kept.json -p work=4 train.py
        --calibration damaged.json train.py
        --calibration kept.json -p work=3 --budget 0.001 train.py
        --deadline 60 --figure plan.txt -p work --price ml.p3.2xlarge --device-time -1
            --json . nowhere.py
        --device-s 0.05 train.py
        --device-s V1000=0.05 train.py
        --device-s p3=nan train.py
        --families c55 train.py
        --budget -1 train.py
        --calibration kept.json -p work=3 --steps 100000 --before 2020-01-01T12:00 train.py
        --calibration kept.json -p work=3 --devices some train.py
    """,
    "render": """
        train.py --cluster a=ml.p9.2xlarge:1 --to jobset
        train.py --cluster a=b --to slurm -p batch_size
        train.py --cluster train=ml.p3.8xlarge:2 --to slurm --image x
        train.py --cluster train=ml.p3.8xlarge:2 --to slurm --max-runtime 0
        train.py --cluster train=ml.p3.8xlarge:2 --to slurm --out /proc/x/y
        train.py --cluster train=ml.p3.8xlarge:2 --to slurm --data many
        train.py --cluster train=ml.p3.8xlarge:2 --to slurm --data 0
        train.py --cluster train=ml.p3.8xlarge:2 --to slurm --data 3
    """,
    "runs": """
        -n 0
        fly
        show old-2
        stop old-2
        share nobody
        delete old-1
        delete --yes old
        delete old-1 nothing
    """,
    "spot --save 20 --restart 300": """
        --mean-time-between 7200 --spot-price 1
        --hours 12 --spot-price 1
        --hours 12 --spot-price 1 --mean-time-between 7200 --trace t.json
        --hours 12 --spot-price 1 --mean-time-between 7200 --cluster t=ml.p3.2xlarge
        --hours 12 --spot-price 1 --mean-time-between 7200 --save-every often
        --hours 12 --spot-price 1 --mean-time-between 7200 --deadline 9 --within-hours 1
        --hours 12 --spot-price 1 --mean-time-between 7200 --save 0
        --hours 12 --spot-price 1 --mean-time-between 7200 --variation 0.02
        --hours 12 --mean-time-between 7200
        --spot-price 1 --mean-time-between 7200 --plan none.json
        --hours 12 --spot-price 1 --trace none.json
    """,
    "fly": "--away",
}
FAILED = (
    *("plan --calibration kept.json -p work=4", "plan --calibration damaged.json"),
    *("plan --calibration kept.json -p work=3 --budget 0.001", "runs show", "runs stop"),
    *("runs share nobody", "runs delete --yes old", "runs delete old-1 nothing"),
    "memory net.py:setup --cheapest --utilization 3",
)
"""What is not refused for how it is written: there is nothing that it could be done with."""


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home with a script, a model, calibrations and a run, being the folder here."""
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", "80")
    (home / "train.py").write_text(QUICK_SCRIPT, encoding="utf-8")
    (home / "net.py").write_text(NET, encoding="utf-8")
    workload = workload_hash(home / "train.py", {"work": 3})
    calibration(workload=workload, entry_point="train.py").save(home / "kept.json")
    (home / "damaged.json").write_text(json.dumps({"schema_version": 0}), encoding="utf-8")
    write_run_folder(home / "runs", run_records([0.2], job_name="old-1"))
    return home


def files_in(folder: Path) -> list[Path]:
    """Return what is there, but for what smtc-lab found out of this machine."""
    return sorted(path for path in folder.rglob("*") if path.name != "cpu_speed.json")


@pytest.mark.parametrize("command", REFUSED)
def test_a_refusal_says_all_that_is_wrong_and_leaves_nothing(
    smtc_lab: Callable[..., Any], folder: Path, golden_texts: GoldenTexts, command: str
) -> None:
    there = files_in(folder)
    told = {}

    for options in textwrap.dedent(REFUSED[command]).replace("\n    ", " ").strip().split("\n"):
        line = f"{command} {options}"
        said = smtc_lab(*shlex.split(line))
        told[line] = said.err.replace(str(folder), "HOME")
        assert (said.exit_code, said.out) == (1 if line.startswith(FAILED) else 2, ""), line
        assert "Traceback" not in said.err

    assert files_in(folder) == there
    golden_texts("refusals", told)
