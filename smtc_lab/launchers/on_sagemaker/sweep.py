"""Training jobs of ours that still run, and are paid for, though nobody here follows them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import CatalogError, SpecError
from smtc_lab.launchers.launcher import Leftover
from smtc_lab.launchers.on_sagemaker.aws.clients import aws_errors
from smtc_lab.launchers.on_sagemaker.aws.request import TAG_MACHINE, TAG_OWNER, owner
from smtc_lab.launchers.on_sagemaker.aws.training_jobs import TrainingJobs
from smtc_lab.spec.cluster import Cluster, InstanceGroup
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import read_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from smtc_lab.catalog.catalog import Catalog


def sweep_jobs(
    sagemaker: Any,  # noqa: ANN401  boto3 makes its classes as it runs
    *,
    root: Path,
    catalog: Catalog,
    stop: bool,
) -> list[Leftover]:
    """Return the running jobs of this user that no supervisor of this machine follows.

    Args:
        sagemaker: A client of boto3; its account and region are searched.
        root: Folder of runs; jobs that are followed from there are in good hands.
        catalog: Where prices are looked up.
        stop: Stop them.

    Raises:
        LauncherError: AWS refused it, or cannot be reached.
    """
    jobs = TrainingJobs(sagemaker)
    region = sagemaker.meta.region_name
    leftovers = []
    for found in _running(sagemaker):
        name = found["TrainingJobName"]
        if read_state(RunFolder(root / name)).is_supervised:
            continue
        leftovers.append(Leftover(job_name=name, what=_what(found, region, catalog)))
        if stop:
            jobs.stop(name)
    return leftovers


def _running(sagemaker: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401  boto3 makes its classes as it runs
    """Yield the training jobs of this user that are in progress."""
    filters = [
        {"Name": "TrainingJobStatus", "Operator": "Equals", "Value": "InProgress"},
        {"Name": f"Tags.{TAG_OWNER}", "Operator": "Equals", "Value": owner()},
    ]
    with aws_errors("search the training jobs that run"):
        pages = sagemaker.get_paginator("search").paginate(
            Resource="TrainingJob", SearchExpression={"Filters": filters}
        )
        for page in pages:
            for result in page["Results"]:
                yield result["TrainingJob"]


def _what(found: dict[str, Any], region: str, catalog: Catalog) -> str:
    tags = {tag["Key"]: tag["Value"] for tag in found.get("Tags", [])}
    hours = max(0.0, time.time() - found["CreationTime"].timestamp()) / 3600
    usd = _usd_per_hour(found["ResourceConfig"], catalog)
    price = "at a price that is not known" if usd is None else f"${usd:,.4g}/h by the catalog"
    return (
        f"training job in {region}, created {hours:.1f} h ago on "
        f"{tags.get(TAG_MACHINE, 'an unknown machine')}, {price}"
    )


def _usd_per_hour(resources: dict[str, Any], catalog: Catalog) -> float | None:
    groups = resources.get("InstanceGroups") or [{**resources, "InstanceGroupName": "all"}]
    try:
        cluster = Cluster(
            instance_groups=tuple(
                InstanceGroup(
                    group["InstanceGroupName"], group["InstanceType"], group["InstanceCount"]
                )
                for group in groups
            )
        )
        return catalog.usd_per_hour(cluster)
    except (CatalogError, SpecError, KeyError):
        return None
