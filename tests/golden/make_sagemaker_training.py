"""Makes the golden files in ``tests/golden/sagemaker_training`` from the real toolkit.

Run from the root of the repository::

    PYTHONPATH=. python tests/golden/make_sagemaker_training.py

It installs the toolkit in an own environment in a temporary folder (it needs a C compiler), so
nothing of it touches the environment of the project. ``--python`` names an interpreter that has
the toolkit already.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict
from pathlib import Path

from sagemaker_training_cases import CASES, Case

from smtc_lab.instance.opt_ml import write_opt_ml
from smtc_lab.instance.resource_config import assign_hosts, resource_config

TOOLKIT = "sagemaker-training==5.1.4"
JOB_NAME = "golden-job"
GOLDEN_FOLDER = Path(__file__).parent / "sagemaker_training"
ASK_SCRIPT = Path(__file__).parent / "ask_sagemaker_training.py"

BASE_PLACEHOLDER = "{base}"
"""Stands in the golden files for the folder that the tree lay in."""


def write_tree(case: Case, host: str, base: Path, channels_folder: Path) -> None:
    """Write one host's tree with our own code."""
    groups = assign_hosts([(g.name, g.instance_type, g.count) for g in case.groups])
    changed = {**resource_config(groups, host), **case.resource_config_changes}
    channels = {name: channels_folder / name for name in case.channels}
    for folder in channels.values():
        folder.mkdir(parents=True, exist_ok=True)
    write_opt_ml(
        base,
        resource_config={key: value for key, value in changed.items() if value is not None},
        hyperparameters=case.hyperparameters,
        channels=channels,
    )
    if case.texts:
        path = base / "input/config/hyperparameters.json"
        encoded = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**encoded, **case.texts}), encoding="utf-8")


def ask_toolkit(python: str, trees: list[dict[str, object]]) -> list[dict[str, str]]:
    """Return what the real toolkit derives from trees."""
    answer = subprocess.run(
        [python, str(ASK_SCRIPT)],
        input=json.dumps(trees),
        capture_output=True,
        text=True,
        check=True,
        # Nothing of this machine reaches the toolkit: no SM_*, no AWS settings, no neuron-ls.
        env={
            "PATH": os.defpath,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
        },
    )
    variables: list[dict[str, str]] = json.loads(answer.stdout.splitlines()[-1])
    return variables


def toolkit_environments(
    python: str, cases: list[Case], folder: Path
) -> dict[str, dict[str, dict[str, str]]]:
    """Return the toolkit's variables by case and host; the base folder is a placeholder."""
    places = [(case, host) for case in cases for host in case.hosts()]
    trees: list[dict[str, object]] = []
    for case, host in places:
        base = folder / case.name / host
        write_tree(case, host, base, folder / "channels" / case.name)
        group = case.hosts()[host]
        trees.append(
            {
                "base": str(base),
                "job_name": JOB_NAME,
                "num_cpus": group.num_cpus,
                "num_gpus": group.num_gpus,
            }
        )
    environments: dict[str, dict[str, dict[str, str]]] = {case.name: {} for case in cases}
    for (case, host), tree, variables in zip(
        places, trees, ask_toolkit(python, trees), strict=True
    ):
        environments[case.name][host] = {
            name: value.replace(str(tree["base"]), BASE_PLACEHOLDER)
            for name, value in sorted(variables.items())
        }
    return environments


def install_toolkit(folder: Path) -> str:
    """Return the interpreter of a new environment that has the toolkit."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", TOOLKIT], check=True)
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", help="an interpreter that has the toolkit already")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        python = arguments.python or install_toolkit(Path(name, "toolkit"))
        environments = toolkit_environments(python, CASES, Path(name, "trees"))
    GOLDEN_FOLDER.mkdir(exist_ok=True)
    for stale in GOLDEN_FOLDER.glob("*.json"):
        stale.unlink()
    for case in CASES:
        golden = {
            "made_by": f"{TOOLKIT}, through tests/golden/{Path(__file__).name}",
            "case": asdict(case),
            "environments": environments[case.name],
        }
        path = GOLDEN_FOLDER / f"{case.name}.json"
        path.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", "utf-8")
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
