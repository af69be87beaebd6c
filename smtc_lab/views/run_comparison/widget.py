"""Compared runs to look around in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import traitlets

from smtc_lab.views.widgets.base import View

if TYPE_CHECKING:
    from smtc_lab.views.run_comparison.comparison import RunComparison


class RunComparisonView(View):
    """Metrics of compared runs in one chart, a scatter of two quantities, and what differs.

    For notebooks of editors without our extension of JupyterLab, which shows it by itself.

    Args:
        compared: What ``compare_runs`` returns.
        **layout: ``layout`` and other traits that every widget has.

    Raises:
        ViewError: The front end was not built.
    """

    view: ClassVar[str] = "run-comparison"
    bundle: ClassVar[str] = "run_comparison"

    comparison = traitlets.Dict(read_only=True).tag(sync=True)
    """A ``RunComparison`` as JSON."""

    def __init__(
        self,
        compared: RunComparison,
        **layout: Any,  # noqa: ANN401  traitlets checks them
    ) -> None:
        self.set_trait("comparison", compared.model_dump(mode="json"))
        super().__init__(**layout)
