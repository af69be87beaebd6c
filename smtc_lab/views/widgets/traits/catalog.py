"""The catalog as a trait: its instance types go to the browser, with their prices."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import traitlets

from smtc_lab.catalog.catalog import Catalog

SHOWN = (
    "name",
    "vcpus",
    "memory_gib",
    "accelerator",
    "accelerator_count",
    "accelerator_memory_gib",
    "network_gbps",
    "price",
)
"""Fields of an instance type that a browser is told."""


def catalog_trait() -> traitlets.Instance[Catalog]:
    """Return a trait that holds a catalog; the browser reads it, and cannot change it."""
    return traitlets.Instance(Catalog).tag(sync=True, to_json=_to_json)


def catalog_json(catalog: Catalog) -> list[dict[str, Any]]:
    """Return what the browser needs to know of each instance type."""
    rows = [asdict(instance_type) for instance_type in catalog.instance_types.values()]
    return [{name: row[name] for name in SHOWN} for row in rows]


def _to_json(catalog: Catalog, _widget: object) -> list[dict[str, Any]]:
    return catalog_json(catalog)
