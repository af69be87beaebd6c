from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import MAX_INSTANCE_COUNT, Cluster, InstanceGroup

P3 = InstanceGroup("dnn_group", "ml.p3.2xlarge", 1)
C5 = InstanceGroup("data_group", "ml.c5.9xlarge", 2)


def test_a_group_takes_sagemakers_arguments_by_position() -> None:
    group = InstanceGroup("data_group", "ml.c5.9xlarge", 2)

    assert group.instance_group_name == "data_group"
    assert group.instance_type == "ml.c5.9xlarge"
    assert group.instance_count == 2
    assert group.role is None


def test_a_group_takes_sagemakers_arguments_by_name() -> None:
    named = InstanceGroup(
        instance_group_name="data_group", instance_type="ml.c5.9xlarge", instance_count=2
    )

    assert named == C5


def test_a_group_has_one_instance_unless_told_otherwise() -> None:
    assert InstanceGroup("a", "local").instance_count == 1


@pytest.mark.parametrize("name", ["a", "a" * 64, "dnn-group_2", "0"])
def test_legal_group_names_are_kept(name: str) -> None:
    assert InstanceGroup(name, "local").instance_group_name == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a" * 65,
        "a b",
        "a=b",
        "a:b",
        "a,b",
        "../a",
        "a\n",
        "a\0",
        "-a",
        "_a",
        "é",
        "<b>",
        ".",
    ],
)
def test_hostile_group_names_are_refused(name: str) -> None:
    with pytest.raises(SpecError, match=r"Instance group name .* is not 1 to 64.*Rename"):
        InstanceGroup(name, "local")


@pytest.mark.parametrize("name", ["local", "ml.c5.9xlarge", "ml.p6-b200.48xlarge"])
def test_legal_instance_types_are_kept(name: str) -> None:
    assert InstanceGroup("a", name).instance_type == name


@pytest.mark.parametrize(
    "name",
    ["", "c5.9xlarge", "ml.c5", "ml..x", "ML.C5.9XLARGE", "ml.c5.9xlarge\n", "ml.c5.9/x"],
)
def test_hostile_instance_types_are_refused(name: str) -> None:
    with pytest.raises(SpecError, match=r"Instance type .* is not of the form.*Write"):
        InstanceGroup("a", name)


@pytest.mark.parametrize("count", [0, -1, MAX_INSTANCE_COUNT + 1])
def test_a_count_out_of_bounds_names_its_group(count: int) -> None:
    with pytest.raises(SpecError, match=rf"group 'a' has instance_count={count}, but needs 1"):
        InstanceGroup("a", "local", count)


@pytest.mark.parametrize("count", [True, 1.0, "1", [1]])
def test_a_count_is_never_converted(count: object) -> None:
    with pytest.raises(SpecError, match=r"instance_count=.* must be a whole number"):
        InstanceGroup("a", "local", count)  # type: ignore[arg-type]


def test_all_problems_of_a_group_are_told_at_once() -> None:
    with pytest.raises(SpecError) as refused:
        InstanceGroup("a b", "big", 0, role="both", size=3)

    assert len(refused.value.problems) == 5
    told = str(refused.value)
    for words in ("'a b'", "'big'", "instance_count=0", "role='both'", "size=3 is not a field"):
        assert words in told


def test_a_group_cannot_be_changed() -> None:
    group = InstanceGroup("a", "local")

    with pytest.raises(SpecError, match=r"instance_count=4 cannot be changed.*Build a new"):
        group.instance_count = 4

    assert group.instance_count == 1


def test_a_cluster_of_one_group_is_homogeneous() -> None:
    cluster = Cluster(instance_groups=[P3])

    assert not cluster.is_heterogeneous
    assert cluster.label == "homogeneous"


def test_a_cluster_of_two_groups_is_heterogeneous() -> None:
    cluster = Cluster(instance_groups=[P3, C5])

    assert cluster.is_heterogeneous
    assert cluster.label == "heterogeneous"
    assert cluster.num_instances == 3


def test_a_name_replaces_the_label() -> None:
    assert Cluster(instance_groups=[P3], name="small").label == "small"


def test_hosts_are_numbered_in_group_order() -> None:
    hosts = Cluster(instance_groups=[P3, C5]).hosts()

    assert list(hosts) == ["algo-1", "algo-2", "algo-3"]
    assert hosts["algo-1"] == P3
    assert hosts["algo-3"] == C5


def test_five_groups_are_legal() -> None:
    groups = [InstanceGroup(f"g{number}", "local") for number in range(5)]

    assert Cluster(instance_groups=groups).num_instances == 5


@pytest.mark.parametrize("number_of_groups", [0, 6])
def test_no_group_and_six_groups_are_refused(number_of_groups: int) -> None:
    groups = [InstanceGroup(f"g{number}", "local") for number in range(number_of_groups)]

    with pytest.raises(SpecError, match=rf"has {number_of_groups} instance groups.* 1 to 5"):
        Cluster(instance_groups=groups)


def test_a_group_name_is_used_once() -> None:
    with pytest.raises(SpecError, match=r"'dnn_group' is used 2 times.*Rename"):
        Cluster(instance_groups=[P3, P3])


def test_a_cluster_in_which_all_groups_prepare_data_is_refused() -> None:
    group = InstanceGroup("data_group", "ml.c5.9xlarge", role="data")

    with pytest.raises(SpecError, match=r"'data_group'.*nothing would train.*role='train'"):
        Cluster(instance_groups=[group])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"role": "train", "runs": "script"},
            r"'g' has runs='script', but trains: trainers always run.* Drop runs, or",
        ),
        ({"runs": "loaders"}, r"InstanceGroup.runs='loaders' .*'script'"),
        ({"runs": True}, r"InstanceGroup.runs=True .*'script'"),
    ],
)
def test_what_a_group_cannot_run_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        InstanceGroup("g", "ml.c5.9xlarge", **options)


def test_one_group_in_place_of_a_list_is_told_apart() -> None:
    with pytest.raises(SpecError, match=r"one group \(dnn_group.*Put it in brackets"):
        Cluster(instance_groups=P3)


@pytest.mark.parametrize("name", ["", "  ", "x" * 65])
def test_a_cluster_name_has_1_to_64_characters(name: str) -> None:
    with pytest.raises(SpecError, match=r"Cluster name .* is not 1 to 64 characters"):
        Cluster(instance_groups=[P3], name=name)


@pytest.mark.parametrize("name", ["two\nlines", "a\tb", "\x1b[31mred", "a\u202eb"])
def test_a_cluster_name_that_tables_cannot_show_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match="tables cannot show"):
        Cluster(instance_groups=[P3], name=name)


def test_problems_inside_groups_and_between_groups_are_told_at_once() -> None:
    bad = {"instance_group_name": "a", "instance_type": "big", "instance_count": True}

    with pytest.raises(SpecError) as refused:
        Cluster(instance_groups=[bad] * 6, name="")

    problems = refused.value.problems
    assert sum("'big'" in problem for problem in problems) == 6
    assert "Cluster.instance_groups.5.instance_count=True" in str(refused.value)
    assert any("has 6 instance groups" in problem for problem in problems)
    assert any("'a' is used 6 times" in problem for problem in problems)
    assert any("Cluster name ''" in problem for problem in problems)


def test_a_cluster_is_parsed_from_a_command_line() -> None:
    cluster = Cluster.parse("fed@dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2:data")

    assert cluster.name == "fed"
    assert cluster.instance_groups[0] == P3
    assert cluster.instance_groups[1].instance_count == 2
    assert cluster.instance_groups[1].role == "data"


def test_a_command_line_says_that_a_group_runs_the_script() -> None:
    cluster = Cluster.parse("a=ml.p3.2xlarge,b=local:2: script,c=local:1:data:script")

    _, by_type, outright = cluster.instance_groups
    assert (by_type.role, by_type.runs) == (None, "script")
    assert (outright.role, outright.runs) == ("data", "script")
    assert Cluster.parse(str(cluster)) == cluster


def test_count_name_and_role_may_be_left_out() -> None:
    cluster = Cluster.parse(" a = local ")

    assert cluster == Cluster(instance_groups=[InstanceGroup("a", "local")])


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a=",
        "=local",
        "a=local:",
        "a=local:one",
        "a=local:1:data:x",
        "a=local:1:script:data",
        "a=b=c",
        "a=local:1.5",
    ],
)
def test_a_text_of_another_form_says_what_to_write(text: str) -> None:
    with pytest.raises(SpecError, match=r"not of the form GROUP=TYPE\[:COUNT.*Write"):
        Cluster.parse(text)


@pytest.mark.parametrize("text", ["", " , ", "name@"])
def test_a_text_without_groups_says_what_to_write(text: str) -> None:
    with pytest.raises(SpecError, match=r"names no instance group. Write"):
        Cluster.parse(text)


def test_all_problems_of_a_text_are_told_at_once() -> None:
    with pytest.raises(SpecError) as refused:
        Cluster.parse("a=big:1,b,c=local:0")

    assert len(refused.value.problems) == 3


@given(st.text(max_size=40))
@settings(deadline=None)
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        cluster = Cluster.parse(text)
    except SpecError as error:
        assert error.problems  # noqa: PT017  most texts are refused, some are not
    else:
        assert cluster.instance_groups


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True)
groups = st.builds(
    InstanceGroup,
    names,
    st.sampled_from(["local", "ml.c5.9xlarge", "ml.p3.2xlarge"]),
    st.integers(1, 9),
    role=st.sampled_from([None, "train"]),
) | st.builds(InstanceGroup, names, st.just("local"), runs=st.just("script"))


@given(st.lists(groups, min_size=1, max_size=5, unique_by=lambda g: g.instance_group_name))
@settings(deadline=None)
def test_what_a_cluster_prints_is_parsed_back(groups: list[InstanceGroup]) -> None:
    cluster = Cluster(instance_groups=groups)

    assert Cluster.parse(str(cluster)) == cluster
