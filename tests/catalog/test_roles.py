from __future__ import annotations

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.placed import placed
from smtc_lab.catalog.roles import roles
from smtc_lab.errors import CatalogError, SpecError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob


def roles_of(text: str) -> dict[str, str]:
    return dict(roles(Cluster.parse(text), Catalog.load()))


@pytest.mark.parametrize("name", ["ml.p3.2xlarge", "ml.c5.9xlarge", "local"])
def test_a_single_group_trains(name: str) -> None:
    assert roles_of(f"a={name}") == {"a": "train"}


def test_a_group_without_an_accelerator_feeds_one_that_has_one() -> None:
    assert roles_of("a=ml.c5.9xlarge,b=ml.p3.2xlarge") == {"a": "data", "b": "train"}


def test_a_trainium_chip_is_an_accelerator() -> None:
    assert roles_of("a=ml.trn1.2xlarge,b=ml.c5.9xlarge") == {"a": "train", "b": "data"}


def test_groups_that_all_lack_an_accelerator_all_train() -> None:
    assert roles_of("a=ml.c5.9xlarge,b=ml.m5.large,c=local") == dict.fromkeys("abc", "train")


def test_groups_that_all_have_an_accelerator_all_train() -> None:
    assert roles_of("a=ml.p3.2xlarge,b=ml.g5.xlarge") == dict.fromkeys("ab", "train")


def test_local_feeds_a_group_with_an_accelerator() -> None:
    assert roles_of("a=local,b=ml.p3.2xlarge") == {"a": "data", "b": "train"}


def test_a_role_that_is_said_wins() -> None:
    assert roles_of("a=ml.c5.9xlarge:1:train,b=ml.p3.2xlarge") == {"a": "train", "b": "train"}
    assert roles_of("a=ml.c5.9xlarge:1:train,b=ml.c5.9xlarge:1:data")["b"] == "data"


def test_a_cluster_in_which_nothing_trains_is_refused() -> None:
    with pytest.raises(SpecError, match=r"would train: a, b prepare data.*role='train'"):
        roles_of("a=ml.c5.9xlarge,b=ml.p3.2xlarge:1:data")


def test_trainers_are_not_told_to_run_the_script() -> None:
    problem = r"Instance group 'b' has runs='script', but trains.*role='data'"
    with pytest.raises(SpecError, match=problem):
        roles_of("a=ml.p3.2xlarge,b=ml.p3.2xlarge:1:script")


def test_data_instances_that_run_the_script_serve_no_loader() -> None:
    cluster = Cluster.parse("a=ml.p3.2xlarge:2,b=ml.c5.9xlarge:3,c=ml.c5.9xlarge:4:script")

    where = placed(TrainingJob(entry_point="train.py", cluster=cluster), Catalog.load())

    assert [each.role for each in where.groups] == ["train", "data", "data"]
    assert [each.serves_loaders for each in where.groups] == [False, True, False]


def test_a_type_that_is_not_known_needs_a_role() -> None:
    assert roles_of("a=ml.p9.xlarge:1:train,b=ml.c5.xlarge:1:data") == {
        "a": "train",
        "b": "data",
    }


def test_the_role_of_an_unknown_type_is_refused() -> None:
    with pytest.raises(CatalogError, match=r"ml\.p3\.2xlage.*Did you mean"):
        roles_of("a=ml.p3.2xlage")
