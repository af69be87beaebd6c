"""torch's schedules: who computes which microbatch of which stage, and when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.parallel.pipeline.stage import Stage

FIRST_RIGHT = (2, 13)
"""The first torch whose schedules were all seen to give the gradients of one process: decision
118 has what each release before it lacks."""

_FIRST_TO_TAKE_PARTS = (2, 14)


def _release(version: str) -> tuple[int, int]:
    major, minor = (int(part) for part in version.split(".")[:2])
    return major, minor


RUN_HERE = _release(torch.__version__) >= FIRST_RIGHT
"""Whether this torch runs pipelines."""


@dataclass(frozen=True, kw_only=True)
class ScheduleKind:
    """One schedule of ``torch.distributed.pipelining``."""

    torch_name: str
    """As ``torch.distributed.pipelining.schedules.get_schedule_class`` knows it."""

    is_single: bool = False
    """Whether each rank has one stage."""

    is_v: bool = False
    """Whether each rank has two stages that lie like a V: the first rank has the first and the
    last. Else stages go round the ranks."""

    splits_backward: bool = False
    """Whether gradients of inputs and of weights are computed at two times."""

    keeps_all: bool = True
    """Whether a stage may hold the activations of all microbatches at once."""

    def stages_per_rank(self, asked: int | None) -> int:
        """Return how many stages a rank has.

        Args:
            asked: What the user asks for; None: what the schedule needs, or two.

        Raises:
            EntryPointError: The schedule cannot have so many.
        """
        least, most = (1, 1) if self.is_single else (2, 2 if self.is_v else 1_000)
        count = least if asked is None else asked
        if not least <= count <= most:
            need = str(least) if least == most else f"at least {least}"
            raise EntryPointError(
                f"{self.torch_name} with stages_per_rank={count}: this schedule has {need} on "
                "each rank. Leave it out, or take another schedule."
            )
        return count

    def rank_of(self, stage: int, ranks: int) -> int:
        """Return which rank has a stage."""
        if self.is_v and stage >= ranks:
            return 2 * ranks - 1 - stage
        return stage % ranks

    def in_flight(self, stages: int, microbatches: int) -> list[int]:
        """Return the most microbatches whose activations each stage holds, by stage."""
        if self.keeps_all:
            return [microbatches] * stages
        return [min(microbatches, stages - stage) for stage in range(stages)]

    def check(self, ranks: int, stages: int, microbatches: int) -> None:
        """Refuse microbatches that the schedule cannot run.

        Raises:
            EntryPointError: There are too few, or they do not divide into rounds.
        """
        least = stages if self.torch_name == "DualPipeV" else ranks
        if microbatches < least:
            of = f"{ranks} trainers" if least == ranks else f"{stages} stages"
            raise EntryPointError(
                f"microbatches={microbatches}, but {self.torch_name} over {of} needs at least "
                f"{least}: with fewer, trainers would wait for each other without end. Take "
                f"{least} or more, of a batch that has as many samples, or fewer trainers."
            )
        rounds = microbatches // ranks
        if self.torch_name.startswith("Interleaved") and microbatches % rounds:
            raise EntryPointError(
                f"microbatches={microbatches} do not divide into the {rounds} rounds of "
                f"{self.torch_name} over {ranks} trainers. Take {rounds * ranks}, or another "
                f"multiple of {ranks}."
            )


SCHEDULES = {
    "gpipe": ScheduleKind(torch_name="GPipe", is_single=True),
    "1f1b": ScheduleKind(torch_name="1F1B", is_single=True, keeps_all=False),
    "interleaved1f1b": ScheduleKind(torch_name="Interleaved1F1B"),
    "loopedbfs": ScheduleKind(torch_name="LoopedBFS"),
    "interleavedzerobubble": ScheduleKind(
        torch_name="InterleavedZeroBubble", splits_backward=True
    ),
    "zbvzerobubble": ScheduleKind(torch_name="ZBVZeroBubble", is_v=True, splits_backward=True),
    "dualpipev": ScheduleKind(torch_name="DualPipeV", is_v=True, splits_backward=True),
}
"""All schedules, by the names that users write; case does not matter."""


def schedule_kind(name: str) -> ScheduleKind:
    """Return a schedule by its name.

    Raises:
        EntryPointError: There is none of that name.
    """
    kind = SCHEDULES.get(name.lower().replace("_", "").replace("-", ""))
    if kind is None:
        raise EntryPointError(
            f"The schedule {name[:80]!r} is not known. Take one of {', '.join(SCHEDULES)}."
        )
    return kind


def check_torch(version: str = torch.__version__) -> None:
    """Refuse a torch that does not run every pipeline.

    Raises:
        EntryPointError: It is older than the first that is right.
    """
    if _release(version) < FIRST_RIGHT:
        first = ".".join(map(str, FIRST_RIGHT))
        raise EntryPointError(
            f"torch {version} does not run every pipeline: schedules of older releases end "
            f"with an error. Install torch {first} or newer."
        )


def torch_stage(  # noqa: PLR0913  options by name
    stage: Stage,
    index: int,
    *,
    splits_backward: bool,
    num_stages: int,
    device: torch.device,
    group: Any,  # noqa: ANN401  a process group, or None
) -> Any:  # noqa: ANN401  torch's
    """Return a stage of torch's, which asks no other rank for shapes.

    Args:
        stage: What computes.
        index: Its number.
        splits_backward: Whether the schedule computes gradients of weights apart.
        num_stages: Stages of the pipeline.
        device: Where it computes.
        group: The ranks of the pipeline.
    """
    from torch.distributed.pipelining import PipelineStage  # noqa: PLC0415  takes a second

    made = PipelineStage(
        stage,
        index,
        num_stages,
        device,
        input_args=tuple(one.empty("meta") for one in stage.plan.inputs),
        output_args=tuple(one.empty("meta") for one in stage.plan.outputs),
        group=group,
    )

    def told(can_split: bool) -> None:  # noqa: FBT001  a callback
        if index and not can_split:
            made.dw_builder = _nothing_left

    if splits_backward:
        stage.on_first(told)
    return made


def _nothing_left() -> Callable[[], None]:
    """Return what is left to do after a backward that was run as a whole: nothing."""
    return lambda: None


def torch_schedule(kind: ScheduleKind, stages: Sequence[Any], microbatches: int) -> Any:  # noqa: ANN401  torch's
    """Return a schedule of torch's over the stages of this rank.

    From torch 2.15 on all that have several stages on a rank run in its runtime: each rank
    goes on as soon as it has what it needs, and none in lockstep with the others.
    """
    from torch.distributed.pipelining.schedules import get_schedule_class  # noqa: PLC0415

    schedule: Any = get_schedule_class(kind.torch_name)(
        stages[0] if kind.is_single else list(stages),
        n_microbatches=microbatches,
        loss_fn=_own_loss,
        scale_grads=False,  # the loss is divided, which is right for tied parameters too
    )
    if _release(torch.__version__) < _FIRST_TO_TAKE_PARTS:
        schedule.step = partial(_step_with_parts, schedule, stages)
    return schedule


def _step_with_parts(
    schedule: Any,  # noqa: ANN401  torch's
    stages: Sequence[Any],
    *,
    kwarg_mbs: list[dict[str, Any]],
    target_mbs: list[None],
    losses: list[torch.Tensor],
    **_options: object,
) -> None:
    """Do what ``step`` of older releases does, which would cut the batch by itself."""
    for stage in stages:
        stage.has_backward = True
        stage.clear_runtime_states()
    schedule._step_microbatches(  # noqa: SLF001
        None, kwarg_mbs, target_mbs, losses, return_outputs=False
    )


def _own_loss(loss: torch.Tensor, _target: object) -> torch.Tensor:
    return loss
