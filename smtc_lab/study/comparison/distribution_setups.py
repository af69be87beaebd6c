"""The distributions that a comparison runs side by side, and what tables call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution, parse_distribution
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OF_A_PIPELINE = ("microbatches", "schedule")


@dataclass(frozen=True, kw_only=True)
class DistributionSetUp:
    """One distribution of a comparison of several."""

    label: str
    """What tables call it: ``data 2``, ``pipeline 2, gpipe``, …"""

    distribution: Distribution | None
    """What its jobs have."""


def distribution_set_ups(given: Mapping[str, Sequence[Any]]) -> tuple[DistributionSetUp, ...]:
    """Return the distributions that lists of values make: one of the first ones, and so on.

    Args:
        given: By name of a field, its values; one alone is that of all.

    Raises:
        SpecError: The lists have different lengths, or a value is not legal; all reasons.
    """
    several = {name: values for name, values in given.items() if len(values) > 1}
    counts = {len(values) for values in several.values()}
    if len(counts) > 1:
        told = ", ".join(f"{name} {len(values)}" for name, values in several.items())
        raise SpecError(
            "Values that are compared belong together by their places, but there are of "
            f"{told}. Give equally many of each, or one for all."
        )
    made, problems = [], []
    for place in range(max(counts, default=1)):
        values = {
            name: of_all[place if len(of_all) > 1 else 0] for name, of_all in given.items()
        }
        if values.get("pipeline") == 1:  # what is given for all stages is of others
            for name in set(_OF_A_PIPELINE) - several.keys():
                values.pop(name, None)
        try:
            spread = parse_distribution(**{"data": None, "shard": None, **values})
        except SpecError as error:
            problems += error.problems
            continue
        made.append(DistributionSetUp(label=_label(values, several), distribution=spread))
    if problems:
        raise SpecError(list(dict.fromkeys(problems)))
    return tuple(made)


def distribution_jobs(
    jobs: Sequence[TrainingJob], set_ups: Sequence[DistributionSetUp]
) -> tuple[TrainingJob, ...]:
    """Return each job with each distribution, the first job's first.

    With several jobs a label names the cluster too.

    Raises:
        SpecError: Two set-ups are the same, or a label is too long.
    """
    labels = [set_up.label for set_up in set_ups]
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise SpecError(
            f"The distribution {twice[0]!r} is given {labels.count(twice[0])} times. Name each "
            "one once."
        )
    made = []
    for job in jobs:
        for set_up in set_ups:
            label = set_up.label if len(jobs) == 1 else f"{job.cluster.label}, {set_up.label}"
            cluster = Cluster(instance_groups=job.cluster.instance_groups, name=label)
            values = {**dict(job), "cluster": cluster, "distribution": set_up.distribution}
            made.append(TrainingJob(**values))
    return tuple(made)


def _label(values: Mapping[str, Any], several: Mapping[str, Sequence[Any]]) -> str:
    """Return what tells a distribution from the others."""
    told = {name: values[name] for name in several if str(values.get(name, 1)) != "1"}
    words = [
        str(value) if name == "schedule" else f"{name} {value}" for name, value in told.items()
    ]
    return ", ".join(words) or "one trainer"
