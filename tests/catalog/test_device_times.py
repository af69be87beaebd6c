from __future__ import annotations

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.device_times import DeviceTimes
from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import Cluster

CATALOG = Catalog.load()
BOTH = DeviceTimes.parse("V100=0.03, nvidia a100=0.012")


def on(times: DeviceTimes, cluster: str) -> float | None:
    return times.on(Cluster.parse(cluster), CATALOG)


def test_one_time_is_that_of_every_cluster() -> None:
    times = DeviceTimes.parse("0.03")

    assert on(times, "g=ml.p4d.24xlarge:1") == 0.03
    assert on(times, "g=ml.c5.9xlarge:1") == 0.03
    assert on(times, "g=local:1") == 0.03


@pytest.mark.parametrize(
    ("cluster", "seconds"),
    [
        ("g=ml.p3.2xlarge:1", 0.03),
        ("g=ml.p4d.24xlarge:2,d=ml.c5.9xlarge:1", 0.012),
        ("a=ml.p4d.24xlarge:1,b=ml.p3.16xlarge:1", 0.03),
        ("g=ml.c5.9xlarge:1", None),
        ("g=local:1", None),
    ],
)
def test_each_accelerator_has_its_own_and_the_slowest_decides(
    cluster: str, seconds: float | None
) -> None:
    assert on(BOTH, cluster) == seconds


def test_an_accelerator_without_a_time_is_named() -> None:
    with pytest.raises(SpecError, match=r"trains on NVIDIA T4.*for V100, nvidia a100.*T4=SEC"):
        on(BOTH, "small@g=ml.g4dn.xlarge:1")


def test_a_name_that_no_cluster_has_an_accelerator_of_is_found() -> None:
    clusters = [Cluster.parse("g=ml.p3.2xlarge:1"), Cluster.parse("g=local:1")]

    assert BOTH.unused(clusters, CATALOG) == ["nvidia a100"]
    assert DeviceTimes.parse("1").unused(clusters, CATALOG) == []


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "inf", "nan", "V100=", "V100=0.1,A100"])
def test_what_is_no_time_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(
        SpecError, match=r"is no time above 0\. Write seconds of a step, 0\.03, or"
    ):
        DeviceTimes.parse(text)


def test_all_that_is_wrong_with_the_times_of_several_clusters_is_told_at_once() -> None:
    clusters = [Cluster.parse("a@g=ml.p3.2xlarge:1"), Cluster.parse("b@g=ml.g4dn.xlarge:1")]

    with pytest.raises(SpecError) as refused:
        BOTH.on_each(clusters, CATALOG)

    assert [problem.split()[1] for problem in refused.value.problems] == ["names", "trains"]
    assert DeviceTimes.parse("V100=3,T4=2").on_each(clusters, CATALOG) == [3.0, 2.0]


def test_the_time_of_each_accelerator_is_told_by_its_full_name() -> None:
    assert BOTH.by_accelerator(CATALOG) == {"NVIDIA V100": 0.03, "NVIDIA A100": 0.012}
    assert BOTH.slowest_s == 0.03
    every = DeviceTimes.parse("0.5").by_accelerator(CATALOG)
    assert len(every) > 10
    assert set(every.values()) == {0.5}


def test_a_name_of_no_accelerator_is_told_with_those_there_are() -> None:
    with pytest.raises(SpecError, match=r"names 'V1000', which is no accelerator.*NVIDIA V100"):
        DeviceTimes.parse("V1000=1").by_accelerator(CATALOG)
