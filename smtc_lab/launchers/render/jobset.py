"""A job as a Kubernetes JobSet: one replicated job for each instance group.

Source:
    JobSet's API, https://jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2/
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.roles import training_groups
from smtc_lab.errors import SpecError
from smtc_lab.launchers.job_environment import spot_problems
from smtc_lab.launchers.planning import is_in_s3
from smtc_lab.launchers.render.dns_names import group_label, jobset_name, name_problems
from smtc_lab.launchers.render.jobset_pod import PodCommon, pod_spec, secret_name
from smtc_lab.launchers.render.needs import cluster_problems, needs_of, plainly_named
from smtc_lab.launchers.render.yaml_text import yaml_text

if TYPE_CHECKING:
    from smtc_lab.launchers.render.yaml_text import Yaml
    from smtc_lab.spec.cluster import InstanceGroup
    from smtc_lab.spec.job import TrainingJob

_MOST_CHARACTERS = 100_000
"""An environment variable may have 128 KiB."""

_HEAD = """\
# Training job {job!r}, written by smtc-lab. Needs JobSet: https://jobset.sigs.k8s.io
# Make the secret that the ends of the data service prove to each other, once:
#   head -c 32 /dev/urandom |
#     kubectl create secret generic {secret} --from-file=secret=/dev/stdin
# Then: kubectl apply --filename FILE
# Nodes are chosen by their Amazon EC2 type. Elsewhere, change each nodeSelector.
"""


def jobset_manifest(
    job: TrainingJob,
    *,
    image: str | None = None,
    claim: str | None = None,
    catalog: Catalog | None = None,
) -> str:
    """Return the manifest of the JobSet that runs a job on Kubernetes.

    The end of the training groups ends the others; any failure ends all, with no restart. The
    paths of the script and of channels are those inside the containers. A pod asks for four
    fifths of its type's CPUs and memory, for all its accelerators, and for a node of its own,
    of its type where the nodes say theirs.

    Args:
        job: What to run.
        image: Container image with Python, torch, smtc-lab and the script.
        claim: PersistentVolumeClaim, writable from all nodes, which keeps the run's folder
            under ``runs/`` and may hold channels; the pods have it at ``/smtc``. None: records
            end with their pods, and only what was printed stays.
        catalog: Where instance types are looked up; None: the one that comes along.

    Raises:
        SpecError: The job cannot be written down; all reasons at once.
    """
    catalog = catalog or Catalog.load()
    job = plainly_named(job)
    job_text = json.dumps(job.model_dump(mode="json", exclude_defaults=True))
    problems = [*_option_problems(image, claim), *cluster_problems(job, catalog)]
    problems += [*name_problems(job), *spot_problems(job, "Kubernetes")]
    problems += [
        f"Channel {channel.channel_name!r} has the source {channel.source!r}, which no pod can "
        "open. Copy it to the claim, and give its folder under /smtc."
        for channel in job.channels
        if is_in_s3(channel)
    ]
    if len(job_text) > _MOST_CHARACTERS:
        problems.append(
            f"The job has {len(job_text)} characters as JSON, but may have {_MOST_CHARACTERS} "
            "on Kubernetes. Pass large hyperparameters in a file."
        )
    if problems:
        raise SpecError(problems)
    name = jobset_name(job)
    common = PodCommon(jobset=name, job_text=job_text, image=str(image), claim=claim)
    trainers = [
        group_label(group.instance_group_name)
        for group in training_groups(job.cluster, catalog)
    ]
    manifest: dict[str, Yaml] = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {
            "network": {"enableDNSHostnames": True},
            "successPolicy": {"operator": "All", "targetReplicatedJobs": trainers},
            "failurePolicy": {"maxRestarts": 0},
            "replicatedJobs": [
                _replicated_job(
                    group,
                    deadline_s=job.max_runtime_s,
                    pod=pod_spec(group, needs_of(group.instance_type, catalog), common),
                )
                for group in job.cluster.instance_groups
            ],
        },
    }
    return _HEAD.format(job=job.job_name, secret=secret_name(name)) + yaml_text(manifest)


def _option_problems(image: str | None, claim: str | None) -> list[str]:
    problems = []
    if image is None:
        problems.append(
            "image is missing: Kubernetes runs containers. Give the name of one that holds "
            "Python, torch, smtc-lab and the script."
        )
    elif not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,510}", image):
        problems.append(
            f"image={image[:80]!r} is not the name of a container image. Write for example "
            "'registry.example.com/train:1'."
        )
    if claim is not None and not re.fullmatch(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", claim):
        problems.append(
            f"claim={claim[:80]!r} is not the name of a PersistentVolumeClaim: lower-case "
            "letters, digits, '-' and '.'. Correct it."
        )
    return problems


def _replicated_job(group: InstanceGroup, *, deadline_s: float, pod: Yaml) -> Yaml:
    """Return one instance group: a job with one pod for each instance, never tried again."""
    return {
        "name": group_label(group.instance_group_name),
        "replicas": 1,
        "template": {
            "spec": {
                "parallelism": group.instance_count,
                "completions": group.instance_count,
                "completionMode": "Indexed",
                "backoffLimit": 0,
                "activeDeadlineSeconds": math.ceil(deadline_s),
                "template": {"spec": pod},
            }
        },
    }
