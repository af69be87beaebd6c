"""The pod of one instance of a JobSet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.launchers.render.pod_start import GROUP_VARIABLE, JOB_VARIABLE, SECRET_FILE

if TYPE_CHECKING:
    from smtc_lab.launchers.render.needs import Needs
    from smtc_lab.launchers.render.yaml_text import Yaml
    from smtc_lab.spec.cluster import InstanceGroup

_MOUNT = "/smtc"
"""Where the pods have the claim, and the run's folder under ``runs/``."""

_CPU_FRACTION = 0.8
"""Share of a type's vCPUs that is asked for: a node keeps some for itself and for what runs on
every node. It is no limit: with no other pod of the job beside it, a pod may use them all."""

_KILL_AFTER_S = 30
"""Kubernetes' own default, said because the agent's grace must be shorter."""


def secret_name(jobset: str) -> str:
    """Return the name of the Secret that holds the job's secret."""
    return f"{jobset}-secret"


@dataclass(frozen=True, kw_only=True)
class PodCommon:
    """What all pods of a JobSet have in common."""

    jobset: str
    """Name of the JobSet."""

    job_text: str
    """The job as JSON."""

    image: str
    """Container image."""

    claim: str | None
    """PersistentVolumeClaim of the run's folder; None: the folder ends with its pod."""


def pod_spec(group: InstanceGroup, needs: Needs, common: PodCommon) -> Yaml:
    """Return the pod of an instance of a group."""
    spec: dict[str, Yaml] = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": _KILL_AFTER_S,
        "nodeSelector": {
            "node.kubernetes.io/instance-type": group.instance_type.removeprefix("ml.")
        },
        "affinity": {"podAntiAffinity": _one_pod_a_node(common.jobset)},
        "containers": [_container(group, needs, common)],
        "volumes": [
            {"name": "runs", **_run_volume(common.claim)},
            # a container's own has 64 MiB, which torch's dataloader workers soon fill
            {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
            {"name": "secret", "secret": {"secretName": secret_name(common.jobset)}},
        ],
    }
    if needs.gpus:  # GPU nodes are usually kept free of other pods this way
        spec["tolerations"] = [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
        ]
    return spec


def _container(group: InstanceGroup, needs: Needs, common: PodCommon) -> Yaml:
    return {
        "name": "instance",
        "image": common.image,
        "command": ["python3", "-m", "smtc_lab.launchers.render.pod_start", f"{_MOUNT}/runs"],
        "env": [
            {"name": GROUP_VARIABLE, "value": group.instance_group_name},
            # Kubernetes would put other variables in place of $(NAME)
            {"name": JOB_VARIABLE, "value": common.job_text.replace("$", "$$")},
        ],
        "resources": _resources(needs),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": "runs", "mountPath": _MOUNT},
            {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108  no file of ours
            {"name": "secret", "mountPath": str(SECRET_FILE.parent), "readOnly": True},
        ],
    }


def _run_volume(claim: str | None) -> dict[str, Yaml]:
    if claim is None:
        return {"emptyDir": {}}
    return {"persistentVolumeClaim": {"claimName": claim}}


def _resources(needs: Needs) -> Yaml:
    accelerators: dict[str, Yaml] = {}
    if needs.gpus:
        accelerators["nvidia.com/gpu"] = needs.gpus
    if needs.neuron_devices:
        accelerators["aws.amazon.com/neuron"] = needs.neuron_devices
    requests: dict[str, Yaml] = {
        "cpu": f"{round(needs.cpus * _CPU_FRACTION * 1000)}m",
        "memory": f"{needs.memory_gib}Gi",
    }
    # accelerators are asked for by their limits
    return {"requests": requests, **({"limits": accelerators} if accelerators else {})}


def _one_pod_a_node(jobset: str) -> Yaml:
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"jobset.sigs.k8s.io/jobset-name": jobset}},
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }
