"""What a job and its instances are called on Kubernetes, where names are DNS labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.spec.job import TrainingJob

_LONGEST_LABEL = 63
"""RFC 1123, and Kubernetes for the name of a pod."""

_SUFFIX = "-abcde"
"""What Kubernetes adds to the name of each pod."""


def jobset_name(job: TrainingJob) -> str:
    """Return the name of a job's JobSet: lower case, beginning with a letter (RFC 1035)."""
    name = str(job.job_name).lower()
    return name if name[0].isalpha() else f"job-{name}"


def group_label(instance_group_name: str) -> str:
    """Return an instance group's part of its pods' names: lower case, ``-`` for ``_``."""
    return instance_group_name.lower().replace("_", "-").strip("-")


def pod_hosts(job: TrainingJob) -> list[str]:
    """Return the name that each instance is reached by, in the order of the cluster's hosts."""
    name = jobset_name(job)
    return [
        f"{name}-{group_label(group.instance_group_name)}-0-{number}.{name}"
        for group in job.cluster.instance_groups
        for number in range(group.instance_count)
    ]


def name_problems(job: TrainingJob) -> list[str]:
    """Return the names that Kubernetes would refuse, or take for one another."""
    problems = []
    named: dict[str, str] = {}
    for group in job.cluster.instance_groups:
        own, label = group.instance_group_name, group_label(group.instance_group_name)
        if label in named:
            problems.append(
                f"The instance groups {named[label]!r} and {own!r} are both {label!r} on "
                "Kubernetes, whose names have no '_' and no capitals. Rename one of them."
            )
        named[label] = own
        longest = f"{jobset_name(job)}-{label}-0-{group.instance_count - 1}{_SUFFIX}"
        if (excess := len(longest) - _LONGEST_LABEL) > 0:
            problems.append(
                f"A pod of instance group {own!r} would be called {longest!r}, which is "
                f"{excess} characters too long for Kubernetes. Shorten job_name "
                f"{job.job_name!r} or the group's name."
            )
    return problems
