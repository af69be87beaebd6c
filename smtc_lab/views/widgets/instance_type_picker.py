"""Chooses an instance type among all that SageMaker trains on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import traitlets

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import CatalogError
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.views.widgets.base import View
from smtc_lab.views.widgets.traits.catalog import catalog_trait

if TYPE_CHECKING:
    from smtc_lab.catalog.instance_types import InstanceType


class InstanceTypePicker(View):
    """A list of instance types to search, filter and sort, by size, accelerator and price.

    Args:
        value: The instance type that is chosen at first.
        catalog: Types and prices; None: the catalog that comes with the package.
        **layout: ``layout`` and other traits that every widget has.

    Raises:
        TraitError: ``value`` is no instance type; names the nearest ones.
    """

    view: ClassVar[str] = "instance-type-picker"

    value = traitlets.Unicode().tag(sync=True)
    """The chosen type, for example ``ml.c5.9xlarge``, or ``local`` for this machine."""

    catalog = catalog_trait()
    """What there is to choose from."""

    def __init__(
        self,
        value: str = "ml.c5.9xlarge",
        *,
        catalog: Catalog | None = None,
        **layout: Any,  # noqa: ANN401  traitlets checks them
    ) -> None:
        super().__init__(catalog=catalog or Catalog.load(), value=value, **layout)

    @property
    def instance_type(self) -> InstanceType | None:
        """What the chosen type has and costs; None: ``local``, of which nothing is known."""
        return None if self.value == LOCAL else self.catalog.get(self.value)

    @traitlets.validate("value")
    def _is_in_the_catalog(self, proposal: dict[str, Any]) -> str:
        name: str = proposal["value"]
        if name != LOCAL:
            try:
                self.catalog.get(name)
            except CatalogError as error:
                raise traitlets.TraitError(str(error)) from None
        return name
