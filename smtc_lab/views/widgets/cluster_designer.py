"""Builds a cluster by hand: instance groups, types, counts, roles, and what an hour costs."""

from __future__ import annotations

from typing import Any, ClassVar

import traitlets

from smtc_lab.catalog.catalog import NO_PRICE_HERE, Catalog
from smtc_lab.catalog.roles import roles
from smtc_lab.errors import CatalogError, SpecError
from smtc_lab.spec.cluster import LOCAL, Cluster, InstanceGroup
from smtc_lab.views.code.cells import cluster_code
from smtc_lab.views.text import format as fmt
from smtc_lab.views.widgets.base import View
from smtc_lab.views.widgets.traits.catalog import catalog_trait


class ClusterDesigner(View):
    """A form for a cluster, with its price per hour as it changes.

    ::

        designer = lab.ClusterDesigner()
        designer.observe(lambda change: print(designer.cluster), "value")

    Args:
        cluster: The cluster at first; None: one ``ml.p3.2xlarge``.
        catalog: Types and prices; None: the catalog that comes with the package.
        **layout: ``layout`` and other traits that every widget has.
    """

    view: ClassVar[str] = "cluster-designer"

    value = traitlets.Dict().tag(sync=True)
    """The cluster as JSON, as it is typed: while ``problems`` has some, it is not legal. To
    change it, assign another dict, or ``cluster``."""

    catalog = catalog_trait()
    """Types to choose from, and their prices."""

    problems = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    """What is wrong with ``value``, one sentence for each problem; empty: it is legal."""

    usd_per_hour = traitlets.Float(None, allow_none=True, read_only=True).tag(sync=True)
    """Price of all instances in USD per hour; None: unknown, or ``value`` has problems."""

    price_notes = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    """Price of each type with its kind and date: ``ml.c5.9xlarge $1.836/h list 2026-09-27``."""

    code = traitlets.Unicode(read_only=True).tag(sync=True)
    """The lines of Python that make ``cluster``."""

    def __init__(
        self,
        cluster: Cluster | None = None,
        *,
        catalog: Catalog | None = None,
        **layout: Any,  # noqa: ANN401  traitlets checks them
    ) -> None:
        if cluster is None:
            cluster = Cluster(instance_groups=(InstanceGroup("dnn_group", "ml.p3.2xlarge"),))
        self._cluster = cluster
        super().__init__(
            catalog=catalog or Catalog.load(), value=cluster.model_dump(mode="json"), **layout
        )

    @property
    def cluster(self) -> Cluster:
        """The last legal cluster."""
        return self._cluster

    @cluster.setter
    def cluster(self, cluster: Cluster) -> None:
        self.value = cluster.model_dump(mode="json")

    @traitlets.observe("value", "catalog")
    def _check(self, _change: object) -> None:
        cluster, problems = checked_cluster(self.value, self.catalog)
        if cluster is not None:
            self._cluster = cluster
        with self.hold_sync():
            self.set_trait("problems", problems)
            self.set_trait("code", cluster_code(self._cluster))
            self.set_trait(
                "usd_per_hour", None if cluster is None else self.catalog.usd_per_hour(cluster)
            )
            self.set_trait("price_notes", price_notes(self._cluster, self.catalog))


def checked_cluster(value: object, catalog: Catalog) -> tuple[Cluster | None, list[str]]:
    """Return the cluster of a form, or None and what is wrong with it."""
    try:
        cluster = Cluster.model_validate(value)
    except SpecError as error:
        return None, error.problems
    problems = []
    for group in cluster.instance_groups:
        if group.instance_type != LOCAL:
            try:
                catalog.get(group.instance_type)
            except CatalogError as error:
                problems.append(str(error))
    if not problems:
        try:
            roles(cluster, catalog)
        except SpecError as error:
            problems = error.problems
    return (None, list(dict.fromkeys(problems))) if problems else (cluster, [])


def price_notes(cluster: Cluster, catalog: Catalog) -> list[str]:
    """Return the price of each instance type of a cluster, with its kind and date, once."""
    names = dict.fromkeys(group.instance_type for group in cluster.instance_groups)
    return [_price_note(name, catalog) for name in names]


def _price_note(name: str, catalog: Catalog) -> str:
    if name == LOCAL:
        return f"{name}: {NO_PRICE_HERE}"
    price = catalog.get(name).price if name in catalog.instance_types else None
    if price is None:
        return f"{name} price {fmt.UNKNOWN}"
    return f"{name} {fmt.usd_per_hour(price.usd_per_hour)} {price.kind} {price.date}"
