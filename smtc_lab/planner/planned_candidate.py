"""A candidate of a plan, with what it takes to ask further questions about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.planner.model.prediction import Candidate, Prediction
    from smtc_lab.planner.outlook import Outlook


@dataclass(frozen=True, repr=False)
class PlannedCandidate:
    """What advice and explanations of a planned cluster are made of."""

    outlook: Outlook
    """The calibration and the catalog behind it."""

    candidate: Candidate
    """The cluster, and what is predicted of it."""

    num_loader_workers: int | None = None
    """Data workers on each training instance; None: as many as the script gives its dataloader,
    or one for each vCPU where it leaves that open."""

    batch_size: int | None = None
    """Samples of one step of one trainer; None: as calibrated."""

    @property
    def prediction(self) -> Prediction:
        """Step time and cost."""
        return self.candidate.prediction
