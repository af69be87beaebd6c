"""Who prepared the batches of a cluster stands in its result, and before the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.records.records import (
    FILES_CHANGED,
    LOADER_KEPT,
    NOTHING_TO_SERVE,
    STEP_BOUNDARY,
    TORCHS_OWN,
    EventRecord,
)
from smtc_lab.spec.cluster import Cluster
from tests.kit.records import STARTED_S, interleaved_runs, loader_record

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords


def comparison(alone: dict[str, int], fed: dict[str, int], kind: str = "data") -> Comparison:
    """Return a comparison of three rounds, in which batches came from these servers."""
    runs: list[RunRecords] = []
    for run in interleaved_runs():
        counts = fed if run.job.cluster.is_heterogeneous else alone
        records = [loader_record(server, count) for server, count in counts.items()]
        event = EventRecord(time_s=STARTED_S, kind=kind, host="algo-1", message="it is so.")
        runs.append(replace(run, loader={"algo-1-rank0": records}, events=[event]))
    return compare_runs(
        runs, catalog=Catalog.load(), created="2026-11-23T00:00:00+00:00", machine={}
    )


def test_the_batches_of_each_group_stand_in_the_result_and_the_verdict() -> None:
    result = comparison({"local": 60}, {"local": 6, "algo-2": 54})

    alone, fed = result.clusters
    assert alone.batches == {"dnn_group": 180}
    assert fed.batches == {"dnn_group": 18, "data_group": 162}
    said = "data_group prepared 90 % of the 180 batches of heterogeneous."
    assert result.verdict.endswith(said)
    assert result.pairs[0].verdict.endswith(said)
    assert "idle_data_group" not in {finding.kind for finding in result.findings}


@pytest.mark.parametrize(
    ("fed", "count", "share"),
    [({"local": 60}, "0", "0"), ({"local": 59, "algo-2": 1}, "3", "1.7")],
)
def test_a_data_group_that_did_nothing_is_told_of_first(
    fed: dict[str, int], count: str, share: str
) -> None:
    result = comparison({"local": 60}, fed)

    first = f"data_group prepared {count} of the 180 batches of heterogeneous ({share} %), "
    assert result.verdict.startswith(first)
    assert result.pairs[0].verdict.startswith(first)
    assert result.findings[0].kind == "idle_data_group"
    assert "heterogeneous is 6.0" in result.verdict


def test_why_a_trainer_kept_its_loader_stands_in_the_verdict() -> None:
    result = comparison({"local": 60}, {"local": 60}, kind=LOADER_KEPT)

    why = "so what makes it faster or slower is not its data group. it is so."
    assert why in result.verdict
    assert why in result.pairs[0].verdict
    assert result.findings[0].text.endswith(why)


def test_nothing_is_said_of_batches_from_a_data_server_of_the_script() -> None:
    cluster = Cluster.parse("dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1:script")
    runs = [
        replace(
            run,
            job=run.job.model_copy(update={"cluster": cluster})
            if run.job.cluster.is_heterogeneous
            else run.job,
            loader={"algo-1-rank0": [loader_record(TORCHS_OWN, 60)]},
        )
        for run in interleaved_runs()
    ]

    result = compare_runs(runs, catalog=Catalog.load(), created="2026-11-23", machine={})

    assert result.clusters[1].batches == {"dnn_group": 180}
    assert result.clusters[1].instance_groups[1].runs == "script"
    assert "data_group" not in result.verdict
    assert "idle_data_group" not in {finding.kind for finding in result.findings}


def test_a_data_group_whose_script_asks_for_no_batch_is_told_of_first() -> None:
    result = comparison({}, {}, kind=NOTHING_TO_SERVE)

    first = (
        "data_group prepared nothing for heterogeneous, whose script asked for no batch, so "
    )
    assert result.verdict.startswith(first)
    assert result.clusters[1].batches == {"dnn_group": 0, "data_group": 0}
    assert {cluster.dataloader for cluster in result.clusters} == {None}
    assert [finding.kind for finding in result.findings].count("idle_data_group") == 1


def test_who_prepared_batches_may_be_unknown() -> None:
    result = comparison({}, {})

    assert [cluster.batches for cluster in result.clusters] == [{}, {}]
    assert "batches" not in result.verdict


def test_set_ups_with_different_dataloaders_are_named() -> None:
    result = comparison({"torch": 60}, {"algo-2": 60})

    assert [cluster.dataloader for cluster in result.clusters] == ["torch", "smtc_lab"]
    (told,) = [one.text for one in result.findings if one.kind == "unlike_dataloaders"]
    assert told.startswith(
        "homogeneous took its batches through torch's own dataloader and heterogeneous "
        "through smtc_lab's, so clusters are not all that differs."
    )


def test_set_ups_with_one_dataloader_have_nothing_to_name() -> None:
    result = comparison({"local": 60}, {"algo-2": 60})

    assert [cluster.dataloader for cluster in result.clusters] == ["smtc_lab", "smtc_lab"]
    assert "unlike_dataloaders" not in {finding.kind for finding in result.findings}


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (STEP_BOUNDARY, "step_boundary"),
        (LOADER_KEPT, "kept_loader"),
        (FILES_CHANGED, "files_changed"),
    ],
)
def test_what_trainers_tell_of_steps_and_of_loaders_stands_there_once_for_each_cluster(
    kind: str, found: str
) -> None:
    result = comparison({}, {}, kind=kind)

    told = [one.text for one in result.findings if one.kind == found]
    assert told == ["homogeneous: it is so.", "heterogeneous: it is so."]


def test_a_batch_that_all_stages_of_a_pipeline_take_counts_once() -> None:
    runs = []
    for run in interleaved_runs(num_ranks=2):
        job = type(run.job)(**{**dict(run.job), "distribution": {"pipeline": 2}})
        loader = {f"algo-1-rank{rank}": [loader_record("local", 60)] for rank in range(2)}
        runs.append(replace(run, job=job, loader=loader))

    result = compare_runs(
        runs, catalog=Catalog.load(), created="2026-11-26T00:00:00+00:00", machine={}
    )

    assert result.clusters[0].batches == {"dnn_group": 180}
