from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.errors import EntryPointError
from smtc_lab.instance.opt_ml import write_opt_ml
from smtc_lab.instance.resource_config import (
    InstanceGroupHosts,
    ResourceConfig,
    assign_hosts,
    read_resource_config,
    resource_config,
)
from smtc_lab.instance.sm_environment import sm_environment

if TYPE_CHECKING:
    from pathlib import Path

HETEROGENEOUS = [("dnn_group", "ml.p4d.24xlarge", 1), ("data_group", "ml.c5.18xlarge", 2)]
EXPECTED = ResourceConfig(
    current_host="algo-3",
    current_instance_type="ml.c5.18xlarge",
    current_group_name="data_group",
    hosts=("algo-1", "algo-2", "algo-3"),
    instance_groups=(
        InstanceGroupHosts(
            instance_group_name="dnn_group",
            instance_type="ml.p4d.24xlarge",
            hosts=("algo-1",),
        ),
        InstanceGroupHosts(
            instance_group_name="data_group",
            instance_type="ml.c5.18xlarge",
            hosts=("algo-2", "algo-3"),
        ),
    ),
    network_interface_name="eth0",
)


def write_tree(base: Path) -> None:
    write_opt_ml(
        base,
        resource_config=resource_config(assign_hosts(HETEROGENEOUS), "algo-3"),
        hyperparameters={},
        channels={},
    )


def write_resource_config(base: Path, content: object) -> dict[str, str]:
    (base / "input/config").mkdir(parents=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (base / "input/config/resourceconfig.json").write_text(text, encoding="utf-8")
    return {"SAGEMAKER_BASE_DIR": str(base)}


def test_hosts_are_sorted_as_text_and_groups_keep_their_order() -> None:
    groups = assign_hosts([("b", "ml.c5.xlarge", 9), ("a", "ml.p3.2xlarge", 2)])

    content = resource_config(groups, "algo-10", network_interface_name="lo")

    assert content == {
        "current_host": "algo-10",
        "current_instance_type": "ml.p3.2xlarge",
        "current_group_name": "a",
        "hosts": ["algo-1", "algo-10", "algo-11", *(f"algo-{n}" for n in range(2, 10))],
        "instance_groups": [
            {
                "instance_group_name": "b",
                "instance_type": "ml.c5.xlarge",
                "hosts": [f"algo-{n}" for n in range(1, 10)],
            },
            {
                "instance_group_name": "a",
                "instance_type": "ml.p3.2xlarge",
                "hosts": ["algo-10", "algo-11"],
            },
        ],
        "network_interface_name": "lo",
    }


@given(counts=st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_every_host_is_in_one_group(counts: list[int]) -> None:
    groups = assign_hosts([(f"g{i}", "ml.c5.xlarge", count) for i, count in enumerate(counts)])

    hosts = [host for group in groups for host in group.hosts]

    assert [len(group.hosts) for group in groups] == counts
    assert hosts == [f"algo-{number}" for number in range(1, sum(counts) + 1)]


def test_a_host_that_no_group_has_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"current_host='algo-9' is in no instance group.*algo-1"
    ):
        resource_config(assign_hosts(HETEROGENEOUS), "algo-9")


def test_a_script_reads_the_file_of_its_tree(tmp_path: Path) -> None:
    write_tree(tmp_path)

    config = read_resource_config({"SAGEMAKER_BASE_DIR": str(tmp_path)})

    assert config == EXPECTED
    assert config.is_heterogeneous
    assert config.group("dnn_group").hosts == ("algo-1",)


def test_the_file_is_believed_before_the_variables(tmp_path: Path) -> None:
    write_tree(tmp_path)

    config = read_resource_config(
        {"SAGEMAKER_BASE_DIR": str(tmp_path), "SM_CURRENT_HOST": "algo-1", "SM_HOSTS": "[]"}
    )

    assert config == EXPECTED


@pytest.mark.parametrize("dropped", ["", "SM_RESOURCE_CONFIG"])
def test_the_variables_are_read_where_there_is_no_file(tmp_path: Path, dropped: str) -> None:
    write_tree(tmp_path / "written")
    variables = sm_environment(tmp_path / "written", num_cpus=1, num_gpus=0, job_name="job")
    variables.pop(dropped, None)

    config = read_resource_config({**variables, "SAGEMAKER_BASE_DIR": str(tmp_path / "none")})

    assert config == EXPECTED


def test_variables_of_a_container_that_knows_no_groups_make_one_group(tmp_path: Path) -> None:
    config = read_resource_config(
        {
            "SAGEMAKER_BASE_DIR": str(tmp_path),
            "SM_CURRENT_HOST": "algo-2",
            "SM_CURRENT_INSTANCE_TYPE": "ml.g5.xlarge",
            "SM_HOSTS": '["algo-1", "algo-2"]',
            "SM_NETWORK_INTERFACE_NAME": "eth1",
        }
    )

    assert config == ResourceConfig(
        current_host="algo-2",
        current_instance_type="ml.g5.xlarge",
        current_group_name="homogeneousCluster",
        hosts=("algo-1", "algo-2"),
        instance_groups=(
            InstanceGroupHosts(
                instance_group_name="homogeneousCluster",
                instance_type="ml.g5.xlarge",
                hosts=("algo-1", "algo-2"),
            ),
        ),
        network_interface_name="eth1",
    )
    assert not config.is_heterogeneous


def test_a_file_without_groups_is_one_group_of_an_unsaid_type(tmp_path: Path) -> None:
    environ = write_resource_config(tmp_path, {"current_host": "box", "hosts": ["box"]})

    config = read_resource_config(environ)

    assert config.current_group_name == "homogeneousCluster"
    assert config.current_instance_type == "local"
    assert config.network_interface_name == "eth0"


def test_the_group_of_a_host_is_found_where_the_file_does_not_name_it(tmp_path: Path) -> None:
    content = resource_config(assign_hosts(HETEROGENEOUS), "algo-3")
    del content["current_group_name"]  # sagemaker_training's own local fallback leaves it out

    assert read_resource_config(write_resource_config(tmp_path, content)) == EXPECTED


def test_a_process_of_no_job_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        EntryPointError,
        match=r"belongs to no training job.*resourceconfig.json.*Start the script through",
    ):
        read_resource_config({"SAGEMAKER_BASE_DIR": str(tmp_path)})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"resourceconfig.json is not JSON"),
        ([], r"holds '\[\]', but must hold a JSON object"),
        ({"hosts": ["a"]}, r"has current_host='None', but needs text"),
        ({"current_host": "a", "hosts": "a"}, r"has hosts='a', but needs a list of host names"),
        (
            {"current_host": "a", "hosts": ["b"]},
            r"current_host='a', which is in no instance group",
        ),
        (
            {"current_host": "a", "hosts": ["a"], "instance_groups": ["a"]},
            r"has instance_groups=.*, but needs a list of objects",
        ),
    ],
)
def test_a_damaged_file_is_named_with_what_it_holds(
    tmp_path: Path,
    content: object,
    message: str,
) -> None:
    with pytest.raises(EntryPointError, match=message + r".*Let the launcher write it anew"):
        read_resource_config(write_resource_config(tmp_path, content))


def test_a_damaged_variable_is_named_with_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(EntryPointError, match=r"SM_HOSTS is not JSON .*: 'algo-1,algo-2'"):
        read_resource_config(
            {
                "SAGEMAKER_BASE_DIR": str(tmp_path),
                "SM_CURRENT_HOST": "algo-1",
                "SM_HOSTS": "algo-1,algo-2",
            }
        )


def test_a_group_that_the_job_does_not_have_is_refused() -> None:
    with pytest.raises(
        EntryPointError, match=r"no instance group 'dnn'.*dnn_group, data_group"
    ):
        EXPECTED.group("dnn")
