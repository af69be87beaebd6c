"""Who trains and who prepares data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import LOCAL, needless_runs

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.cluster import Cluster, InstanceGroup, Role


def roles(cluster: Cluster, catalog: Catalog) -> dict[str, Role]:
    """Return the role of each instance group, by its name.

    A role that is said outright wins. Otherwise a group without an accelerator, in a cluster
    where another group has one, prepares data; every other group trains. ``local`` counts as
    a type without an accelerator, whatever this machine has: alone it trains, beside
    ``ml.p3.2xlarge`` it prepares data.

    Raises:
        CatalogError: An instance type is not in the catalog, and a group does not say its role.
        SpecError: Nothing would train, or trainers are told to run the script.
    """
    groups = cluster.instance_groups
    found = {each.instance_group_name: each.role for each in groups if each.role}
    if len(found) < len(groups):
        accelerated = [_has_accelerator(group, catalog) for group in groups]
        found = {
            each.instance_group_name: each.role
            or ("data" if any(accelerated) and not has_device else "train")
            for each, has_device in zip(groups, accelerated, strict=True)
        }
    if "train" not in found.values():
        raise SpecError(
            f"No instance group of the cluster {cluster} would train: {', '.join(found)} "
            "prepare data. Give one group role='train'."
        )
    scripted = [each.instance_group_name for each in groups if each.runs]
    if needless := [name for name in scripted if found[name] == "train"]:
        raise SpecError([needless_runs(name) for name in needless])
    return found


def training_groups(cluster: Cluster, catalog: Catalog) -> list[InstanceGroup]:
    """Return the groups of a cluster that train.

    Raises:
        CatalogError: As for ``roles``.
        SpecError: As for ``roles``.
    """
    role_of = roles(cluster, catalog)
    return [
        each for each in cluster.instance_groups if role_of[each.instance_group_name] == "train"
    ]


def _has_accelerator(group: InstanceGroup, catalog: Catalog) -> bool:
    return group.instance_type != LOCAL and catalog.get(group.instance_type).has_accelerator
