from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import smtc_lab.errors
from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.instance.opt_ml import write_opt_ml
from smtc_lab.instance.resource_config import assign_hosts, resource_config
from smtc_lab.instance.sm_environment import sm_environment

if TYPE_CHECKING:
    from types import ModuleType

GOLDEN = Path(__file__).parents[1] / "golden"
GOLDEN_FILES = sorted((GOLDEN / "sagemaker_training").glob("*.json"))
TOOLKIT_PYTHON = "SMTC_SAGEMAKER_TRAINING_PYTHON"


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, GOLDEN / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


CASES = load_script("sagemaker_training_cases")
MAKE = load_script("make_sagemaker_training")


def our_environments(case: Any, folder: Path) -> dict[str, dict[str, str]]:
    environments = {}
    for host, group in case.hosts().items():
        base = folder / host
        MAKE.write_tree(case, host, base, folder / "channels")
        variables = sm_environment(
            base, num_cpus=group.num_cpus, num_gpus=group.num_gpus, job_name=MAKE.JOB_NAME
        )
        environments[host] = {
            name: value.replace(str(base), MAKE.BASE_PLACEHOLDER)
            for name, value in variables.items()
        }
    return environments


def write_simple_tree(base: Path, hyperparameters: dict[str, object]) -> None:
    write_opt_ml(
        base,
        resource_config=resource_config(assign_hosts([("one", "ml.c5.xlarge", 1)]), "algo-1"),
        hyperparameters=hyperparameters,
        channels={},
    )


def simple_environment(base: Path) -> dict[str, str]:
    return sm_environment(base, num_cpus=2, num_gpus=0, job_name="job")


@pytest.mark.parametrize("golden_file", GOLDEN_FILES, ids=lambda path: path.stem)
def test_every_variable_on_every_host_is_the_toolkits(
    golden_file: Path, tmp_path: Path
) -> None:
    golden = json.loads(golden_file.read_text(encoding="utf-8"))

    ours = our_environments(CASES.Case.from_json(golden["case"]), tmp_path)

    assert ours == golden["environments"]


def test_golden_files_are_made_of_the_cases_that_the_script_has_now() -> None:
    golden_cases = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))["case"] for path in GOLDEN_FILES
    }

    assert golden_cases == {
        case.name: json.loads(json.dumps(asdict(case))) for case in CASES.CASES
    }


@pytest.mark.skipif(
    TOOLKIT_PYTHON not in os.environ,
    reason=f"{TOOLKIT_PYTHON} names no Python that has sagemaker-training",
)
def test_the_real_toolkit_reads_our_trees_and_derives_what_we_derive(tmp_path: Path) -> None:
    toolkits = MAKE.toolkit_environments(
        os.environ[TOOLKIT_PYTHON], CASES.CASES, tmp_path / "a"
    )

    ours = {
        case.name: our_environments(case, tmp_path / "b" / case.name) for case in CASES.CASES
    }

    assert ours == toolkits


def test_a_host_of_the_data_group_sees_its_own_group(tmp_path: Path) -> None:
    groups = assign_hosts(
        [("data_group", "ml.c5.18xlarge", 2), ("dnn_group", "ml.p4d.24xlarge", 1)]
    )
    write_opt_ml(
        tmp_path,
        resource_config=resource_config(groups, "algo-2"),
        hyperparameters={},
        channels={},
    )

    variables = simple_environment(tmp_path)

    assert variables["SM_CURRENT_INSTANCE_GROUP"] == "data_group"
    assert variables["SM_CURRENT_INSTANCE_GROUP_HOSTS"] == '["algo-1","algo-2"]'
    assert variables["SM_IS_HETERO"] == "true"


def test_the_number_of_cpus_is_the_quota_and_not_the_machines(tmp_path: Path) -> None:
    write_simple_tree(tmp_path, {})

    variables = sm_environment(tmp_path, num_cpus=4321, num_gpus=0, job_name="job")

    assert variables["SM_NUM_CPUS"] == "4321"
    assert json.loads(variables["SM_TRAINING_ENV"])["num_cpus"] == 4321


def test_every_variable_can_be_handed_to_a_process(tmp_path: Path) -> None:
    write_simple_tree(tmp_path, {"text": "Grüße 🙂\n'\"", "ключ": [None, {"ß": "🙂"}]})
    variables = simple_environment(tmp_path)

    seen = subprocess.run(
        [
            sys.executable,
            "-X",
            "utf8",
            "-c",
            "import json, os; print(json.dumps(dict(os.environ)))",
        ],
        env=variables,
        capture_output=True,
        check=True,
    )

    assert variables.items() <= json.loads(seen.stdout).items()


def test_a_folder_without_a_tree_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        LauncherError, match=r"resourceconfig.json cannot be read.*write_opt_ml"
    ):
        simple_environment(tmp_path)


def test_a_damaged_file_of_the_tree_is_named(tmp_path: Path) -> None:
    write_simple_tree(tmp_path, {})
    (tmp_path / "input/config/inputdataconfig.json").write_text("[]", encoding="utf-8")

    with pytest.raises(LauncherError, match=r"inputdataconfig.json holds '\[\]'.*JSON object"):
        simple_environment(tmp_path)


def test_distribution_groups_that_are_no_list_are_refused(tmp_path: Path) -> None:
    write_simple_tree(tmp_path, {"sagemaker_distribution_instance_groups": "dnn_group"})

    with pytest.raises(SpecError, match=r"'dnn_group', but must be a list.*Write for example"):
        simple_environment(tmp_path)


def test_the_contract_needs_the_standard_library_only() -> None:
    root = Path(smtc_lab.errors.__file__).parents[1]
    program = (
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        "import smtc_lab.instance.hyperparameters, smtc_lab.instance.opt_ml\n"
        "import smtc_lab.instance.resource_config, smtc_lab.instance.sm_environment\n"
    )

    # -I -S: neither the environment nor site-packages are seen.
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)
