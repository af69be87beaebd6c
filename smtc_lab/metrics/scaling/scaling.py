"""The result of a scaling study: the schema of ``scaling.json``, version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Self

from smtc_lab.display import BundleDisplayed
from smtc_lab.errors import StoreError
from smtc_lab.machine.stored_text import check_schema, misfits, parsed_json
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.finding import Finding, caution
from smtc_lab.metrics.parity import ParityResult
from smtc_lab.metrics.result import Interval, Result
from smtc_lab.neutral_text import neutral_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA_VERSION: Literal[1] = 1

Mode = Literal["weak", "strong"]
"""``weak``: each device keeps its batch, so that the step's batch grows. ``strong``: the step
keeps its batch, which the devices share."""

Cause = Literal["data_wait", "stragglers", "communication", "compute", "other"]
"""What a step takes longer for than it would if it scaled ideally. ``data_wait``: trainers wait
for batches. ``stragglers``: all wait for the slowest rank. ``communication``: gradients travel
and nothing is computed beside it, as ranks recorded it. ``compute``: devices compute longer.
``other``: all else, and whatever of the former is not measured."""

CAUSES: tuple[Cause, ...] = ("data_wait", "stragglers", "communication", "compute", "other")
"""All causes, in the order in which bars have them."""


class LostPart(Result):
    """A part of what a step takes longer than ideally. All parts add up to ``loss_s``."""

    cause: Cause
    """What it is lost to."""

    s_per_step: Interval
    """In seconds of a step; below 0: it takes less than ideally."""


class ScalingPoint(Result):
    """One number of devices."""

    set_up: str
    """Name of the set-up in tables and charts."""

    devices: int
    """Trainers, each with a device."""

    instances: int
    """Training instances that they are on."""

    idle_devices: int
    """Accelerators of these instances that have no trainer, and are billed."""

    usd_per_hour: float | None
    """Price of the whole cluster in USD per hour; None: a price is unknown."""

    step_time_s: Interval
    """Mean step time of the job in seconds: in each step, the longest of all ranks."""

    samples_per_step: float | None
    """Samples of a step of all ranks, a mean; None: unknown."""

    speedup: Interval | None
    """Samples per second over those of the curve's fewest devices; None: these are they."""

    efficiency: Interval | None
    """``speedup`` over the growth of devices: weak t(1)/t(n), strong t(1)/(n t(n)). 1 is ideal;
    None: as ``speedup``."""

    marginal_efficiency: Interval | None
    """What each device that was added since the point before brings, over what each of those
    before brings; None: there is no point before."""

    cost_efficiency: Interval | None
    """Samples per dollar over those of the study's first set-up; None: this is it, or a price
    is unknown."""

    usd_per_million_samples: Interval | None
    """Cost of the steps of a million samples in USD; None: a price or the samples unknown."""

    epoch_s: Interval | None
    """Steps of one epoch in seconds; None: nobody said how many samples it has."""

    usd_per_epoch: Interval | None
    """Their cost in USD; None: that, or a price is unknown."""

    ideal_step_time_s: float
    """Step time that the curve's fewest devices promise, in seconds."""

    loss_s: Interval | None
    """Step time beyond the ideal one in seconds; None: as ``speedup``."""

    lost: tuple[LostPart, ...] = ()
    """What that time goes to."""

    same_model: ParityResult | None = None
    """Whether its trainers train one process's model; None: not checked, or it is one."""

    exposed_comm_s: Interval | None = None
    """Time of a step in which gradients travel and nothing is computed beside it, in seconds, a
    mean over the ranks; without the wait for slower ones. None: not recorded, or one trainer,
    which exchanges nothing."""


class ScalingCurve(Result):
    """Points of one job, the fewest devices first."""

    name: str
    """What the job is called."""

    points: tuple[ScalingPoint, ...]
    """At least one."""

    knee: int | None
    """Most devices up to which every added one brings more than ``bound``, told by intervals;
    the fewest, where the first step beyond them already brings less. None: not told yet."""


class Scaling(BundleDisplayed, Result):
    """A job on several numbers of devices, measured in interleaved launches."""

    _html_view: ClassVar[str] = "smtc_lab.views.scaling.bundle"
    _bundle_view: ClassVar[str] = "smtc_lab.views.scaling.bundle"

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this schema."""

    mode: Mode
    """What stays the same as devices are added."""

    bound: float
    """Share of a device that an added one must bring, 0 to 1."""

    samples_per_epoch: int | None
    """Samples of an epoch; None: nobody said."""

    curves: tuple[ScalingCurve, ...]
    """One for each job."""

    verdict: str
    """The result in a few sentences that claim no more than the intervals do."""

    findings: tuple[Finding, ...] = ()
    """What could be better, or must be known, the gravest first."""

    comparison: Comparison
    """All set-ups as a comparison has them, the first one its baseline."""

    def with_same_models(self, found: Mapping[str, ParityResult], told: Sequence[str]) -> Self:
        """Return the result with what parity launches showed.

        Args:
            found: What each set-up's trainers learn, by its name.
            told: Why launches failed, a sentence each.
        """
        curves = tuple(
            curve.model_copy(
                update={
                    "points": tuple(
                        point.model_copy(update={"same_model": found.get(point.set_up)})
                        for point in curve.points
                    )
                }
            )
            for curve in self.curves
        )
        cautions = [
            *(
                caution("parity", f"{name}: {each.verdict}.")
                for name, each in found.items()
                if not each.equal
            ),
            *(caution("launch", each) for each in told),
        ]
        return self.model_copy(
            update={"curves": curves, "findings": (*cautions, *self.findings)}
        )

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the result as JSON text."""
        return self.model_dump_json(indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the result that was written with ``to_json``.

        Raises:
            StoreError: The text is damaged, or of a later schema version; says so without its
                content, which may be of another file.
        """
        try:
            values = neutral_json(parsed_json(text))
            check_schema(values, "This scaling study", newest=SCHEMA_VERSION)
            return cls.model_validate(values)
        except ValueError as error:
            raise StoreError(
                f"This is not a scaling study of schema version {SCHEMA_VERSION}: "
                f"{misfits(error)}. Make it again with 'smtc-lab scale', or update smtc_lab."
            ) from error
