"""A planned pipeline as a picture, in which modules are moved from stage to stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

import traitlets

from smtc_lab.errors import EntryPointError, ViewError
from smtc_lab.spec.distribution import Distribution
from smtc_lab.views.code.cells import distribution_code
from smtc_lab.views.plan.cut_describer import cut_at, described_cut, described_model
from smtc_lab.views.text.json_values import json_values
from smtc_lab.views.widgets.base import View

if TYPE_CHECKING:
    from smtc_lab.parallel.pipeline.planning.planned import PipelinePlan
    from smtc_lab.spec.distribution import Schedule


class PipelineView(View):
    """Stages of a planned pipeline, and their modules, which can be moved by hand.

    ::

        picture = lab.PipelineView(planned)
        picture.pins     # of the cut that was made in the picture
        picture.planned  # and its plan

    A cut that does not fit the memory of a device is shown, with how much is missing. All times
    are predicted.

    Args:
        planned: What ``plan_pipeline`` returns, or a plan of that with other pins.
        **layout: ``layout`` and other traits that every widget has.

    Raises:
        ViewError: The front end was not built.
    """

    view: ClassVar[str] = "pipeline"
    bundle: ClassVar[str] = "stages"

    model = traitlets.Dict(read_only=True).tag(sync=True)
    """A ``PlannedModelInfo`` as JSON."""

    cut = traitlets.Dict(read_only=True).tag(sync=True)
    """A ``PlannedCutInfo`` as JSON."""

    def __init__(
        self,
        planned: PipelinePlan,
        **layout: Any,  # noqa: ANN401  traitlets checks them
    ) -> None:
        self._planned = planned
        self._answers = 0
        self.set_trait("model", json_values(described_model(planned)))
        self._tell()
        super().__init__(**layout)
        self.on_msg(self._on_message)

    @property
    def planned(self) -> PipelinePlan:
        """The plan of the cut that is shown."""
        return self._planned

    @property
    def pins(self) -> dict[str, int]:
        """The cut that is shown, as ``lab.Distribution(pins=...)`` takes it."""
        return self._planned.least_pins

    @property
    def distribution(self) -> Distribution:
        """What a job is given to be cut as is shown; what did not fit is refused there."""
        planned = self._planned
        return Distribution(
            pipeline=planned.ranks,
            microbatches=planned.microbatches,
            schedule=cast("Schedule", planned.schedule),
            limit_bytes=planned.limit_bytes,
            activation_offload=planned.is_offloaded,
            pins=self.pins,
        )

    @property
    def code(self) -> str:
        """Lines of Python that make ``distribution``."""
        return distribution_code(self.distribution)

    def __repr__(self) -> str:
        # what a notebook without a kernel shows in the picture's place
        return str(self._planned)

    def _on_message(self, _widget: object, content: object, _buffers: object) -> None:
        if not isinstance(content, dict) or content.get("type") != "cut":
            return
        refused = ""
        try:
            self._planned = cut_at(self._planned, content.get("starts"))
        except (EntryPointError, ViewError) as error:
            refused = str(error)
        self._answers += 1
        self._tell(refused)

    def _tell(self, refused: str = "") -> None:
        cut = described_cut(
            self._planned, answer=self._answers, refused=refused, code=self.code
        )
        self.set_trait("cut", json_values(cut))
