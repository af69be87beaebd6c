"""Instance types that a catalog has otherwise than everybody's, as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.instance_types import InstanceType
from smtc_lab.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.spec.cluster import Cluster


def own_types(catalog: Catalog, clusters: Iterable[Cluster]) -> list[dict[str, Any]]:
    """Return the types of clusters that a catalog has with another price or size, say.

    Args:
        catalog: Types and prices.
        clusters: Of other types nothing is told.
    """
    usual = Catalog.load().instance_types
    named = {
        group.instance_type: catalog.instance_types.get(group.instance_type)
        for cluster in clusters
        for group in cluster.instance_groups
    }
    return [asdict(one) for name, one in named.items() if one and one != usual.get(name)]


def catalog_with(values: object) -> Catalog:
    """Return everybody's catalog with the types that ``own_types`` told.

    Raises:
        CatalogError: They are damaged.
    """
    try:
        own = TypeAdapter(list[InstanceType]).validate_python(values)
    except ValidationError as error:
        raise CatalogError(
            f"The instance types {str(values)[:80]!r} cannot be read ({error}). Restore the "
            "file that they come from."
        ) from error
    return Catalog.load().with_types(own)
