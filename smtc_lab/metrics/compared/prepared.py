"""Who prepared the batches of a cluster, through whose dataloader, and what ended its steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from smtc_lab.metrics.cautions.too_little import in_words
from smtc_lab.metrics.finding import caution
from smtc_lab.metrics.records.records import (
    FILES_CHANGED,
    LOADER_KEPT,
    NOTHING_TO_SERVE,
    OWN_WORKERS,
    STEP_BOUNDARY,
    TORCHS_OWN,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from smtc_lab.metrics.compared.comparison import ClusterResult, Dataloader
    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster
    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.records.records import LoaderRecord, RunRecords
    from smtc_lab.spec.cluster import Cluster
    from smtc_lab.spec.job import TrainingJob

LEAST_PREPARED = 0.05
"""Share of the batches below which a data group did as good as nothing."""

_WHOSE = {"torch": "torch's own dataloader", "smtc_lab": "smtc_lab's"}


Served = Mapping[str, Mapping[str, int]]
"""Batches that the ranks of a launch got: by ``<host>-rank<rank>``, and then by the ``server``
of their loader records."""


def batches_by_server(records: Iterable[LoaderRecord]) -> Counter[str]:
    """Return the batches that a rank got, by who prepared them."""
    counts: Counter[str] = Counter()
    for record in records:
        counts[record.server] += record.batches
    return counts


def served_in(run: RunRecords) -> Served:
    """Return the batches that the ranks of a run got; 0 where there was nothing to serve."""
    served: dict[str, Mapping[str, int]] = {
        event.host: {event.host: 0} for event in run.events if event.kind == NOTHING_TO_SERVE
    }
    return served | {rank: batches_by_server(records) for rank, records in run.loader.items()}


def takers_of(job: TrainingJob) -> int:
    """Return how many trainers of a job take the same batch: the stages of its pipeline."""
    return 1 if job.distribution is None else job.distribution.pipeline


def batches_by_group(
    cluster: Cluster, launches: Iterable[Served], *, takers: int = 1
) -> dict[str, int]:
    """Return the batches that each group prepared, over launches; empty: not known.

    Args:
        cluster: Where they ran.
        launches: What the ranks of each got.
        takers: Trainers that take the same batch, which counts once.
    """
    hosts = {
        host: group.instance_group_name
        for host, group in cluster.hosts().items()
        if group.runs is None  # what a server of the script's own hands out is not known
    }
    found = dict.fromkeys(hosts.values(), 0)
    counts = list(_counts(launches))
    for trainer, server, count in counts:
        host = trainer if server in {OWN_WORKERS, TORCHS_OWN} else server
        if host in hosts:
            found[hosts[host]] += count
    return {name: count // takers for name, count in found.items()} if counts else {}


def dataloader_of(launches: Iterable[Served]) -> Dataloader | None:
    """Return whose dataloader most batches came through; None: not known."""
    counts: Counter[Dataloader] = Counter()
    for _, server, count in _counts(launches):
        if count > 0:
            counts["torch" if server == TORCHS_OWN else "smtc_lab"] += count
    return max(counts, key=lambda whose: (counts[whose], whose), default=None)


def data_group_share(result: ClusterResult) -> float | None:
    """Return the share of the batches that data groups prepared, 0 to 1.

    None: the cluster has no data group, or who prepared its batches is not known.
    """
    total = sum(result.batches.values())
    groups = data_groups(result)
    if not result.batches or not groups:
        return None
    return total and sum(result.batches.get(name, 0) for name in groups) / total


def prepared_clauses(results: Iterable[ClusterResult]) -> list[str]:
    """Return for each cluster what its data group did, without a full stop."""
    return [
        f"{in_words(data_groups(result))} prepared {100 * share:.0f} % of the "
        f"{sum(result.batches.values()):,} batches of {result.name}"
        for result in results
        if (share := data_group_share(result)) is not None and share >= LEAST_PREPARED
    ]


def idle_data_groups(
    measured: Iterable[MeasuredCluster], results: Iterable[ClusterResult]
) -> list[Finding]:
    """Return a caution for each cluster whose data group prepared next to nothing.

    Why trainers kept a loader, as they told it, stands in it.

    Args:
        measured: What was seen of each cluster.
        results: Their results, in the same order.
    """
    found = []
    for cluster, result in zip(measured, results, strict=True):
        share = data_group_share(result)
        if share is None or share >= LEAST_PREPARED:
            continue
        groups, total = data_groups(result), sum(result.batches.values())
        count = sum(result.batches.get(name, 0) for name in groups)
        prepared = f"{count:,} of the {total:,} batches of {result.name} ({100 * share:.2g} %)"
        if total == 0:
            prepared = f"nothing for {result.name}, whose script asked for no batch"
        sentence = (
            f"{in_words(groups)} prepared {prepared}, so what makes it faster or slower is not "
            "its data group."
        )
        fix = "Look into the log of its trainers for loaders that they prepared themselves."
        if kept := _told(cluster, LOADER_KEPT)[:1]:
            sentence, fix = " ".join([sentence, *kept]), ""
        found.append(caution("idle_data_group", sentence, fix))
    return found


def unlike_dataloaders(results: Sequence[ClusterResult]) -> Iterator[Finding]:
    """Yield that clusters took their batches through different dataloaders."""
    baseline = results[0]
    for result in results[1:]:
        if None in {baseline.dataloader, result.dataloader}:
            continue
        if baseline.dataloader != result.dataloader:
            yield caution(
                "unlike_dataloaders",
                f"{baseline.name} took its batches through {_whose(baseline)} and "
                f"{result.name} through {_whose(result)}, so clusters are not all that "
                "differs.",
                "Make the loader with smtc_lab.Session().dataloader(), which is the same on "
                "every cluster.",
            )


_TOLD = (
    (STEP_BOUNDARY, "step_boundary"),
    (LOADER_KEPT, "kept_loader"),
    (FILES_CHANGED, "files_changed"),
)


def told_by_trainers(measured: MeasuredCluster) -> Iterator[Finding]:
    """Yield what ended the steps of a cluster, and which loaders its trainers fed themselves.

    That is, where it was no optimizer, and where a data group was to feed them. And which files
    of the user's were changed beside it.
    """
    for kind, code in _TOLD:
        told = _told(measured, kind)
        yield from (caution(code, f"{measured.label}: {message}") for message in told)


def _told(measured: MeasuredCluster, kind: str) -> list[str]:
    """Return what the launches of a cluster told in events of a kind, each once."""
    events = (event for launch in measured.launches for event in launch.run.events)
    return list(dict.fromkeys(event.message for event in events if event.kind == kind))


def _counts(launches: Iterable[Served]) -> Iterator[tuple[str, str, int]]:
    """Yield how many batches the ranks of all launches got: trainer's host, server, batches."""
    for served in launches:
        for rank, counts in served.items():
            yield from (
                (rank.rpartition("-rank")[0], server, count) for server, count in counts.items()
            )


def data_groups(result: ClusterResult) -> list[str]:
    """Return the names of the groups that serve dataloaders of others."""
    return [
        group.instance_group_name
        for group in result.instance_groups
        if group.role == "data" and group.runs is None
    ]


def _whose(result: ClusterResult) -> str:
    return _WHOSE[result.dataloader or "torch"]
