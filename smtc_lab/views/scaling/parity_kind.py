"""What views know of parity checks of several trainers: the entry of the table of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.parity import ParityResult
from smtc_lab.metrics.parity_trace import shown
from smtc_lab.study.scaling.same_model import PARITY
from smtc_lab.views.study.kind import StudyKind
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.set_ups import RowInfo

if TYPE_CHECKING:
    from smtc_lab.views.study.follower import StudyFollower

_SAME = {True: "yes", False: "no", None: "not judged"}


class ParityKind(StudyKind):
    """Whether the trainers of a job train the model of one process."""

    def sentence(self, follower: StudyFollower) -> str:
        """Return the verdict, or where it stands."""
        result = _result(follower)
        return super().sentence(follower) if result is None else f"{result.verdict}."

    def rows(self, follower: StudyFollower) -> tuple[RowInfo, ...]:
        """Return what was compared, once it is known."""
        result = _result(follower)
        if result is None:
            return ()
        return (
            _row("trainers", str(result.ranks)),
            _row("trains the model of one process", _SAME[result.equal]),
            _row("steps compared", str(result.steps)),
            _row("weights apart", _distance(result.weight_difference)),
            _row("its twin", _distance(result.noise_weight_difference)),
            _row("allowed", _distance(result.tolerance)),
        )


def _result(follower: StudyFollower) -> ParityResult | None:
    written = follower.run.result_json
    return None if written is None else ParityResult.model_validate_json(written)


def _distance(value: float | None) -> str:
    return fmt.UNKNOWN if value is None else shown(value)


def _row(label: str, cell: str) -> RowInfo:
    return RowInfo(label=label, cells=((cell,),))


PARITY_CHECK = ParityKind(PARITY)
