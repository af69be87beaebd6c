"""A model, its optimizer and a loss, trained in stages on the ranks of a process group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError, SmtcLabError
from smtc_lab.parallel.arguments import loss_of_output
from smtc_lab.parallel.gradients import scale_down
from smtc_lab.parallel.group import trainer_device
from smtc_lab.parallel.pipeline.checks import (
    BatchShapes,
    check_mean,
    check_model,
    split_batch,
)
from smtc_lab.parallel.pipeline.gradients import grad_norm, loss_everywhere, summed
from smtc_lab.parallel.pipeline.peers import Peers
from smtc_lab.parallel.pipeline.schedules import check_torch, schedule_kind
from smtc_lab.parallel.pipeline.state import full_state, load_full_state
from smtc_lab.parallel.replicas import sum_over

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.parallel.pipeline.building import Built
    from smtc_lab.parallel.pipeline.cutting.partition import Partition
    from smtc_lab.parallel.pipeline.options import PipelineOptions


class ModelPipeline:
    """Trains a model whose stages are on the ranks of a process group.

    ::

        pipeline = ModelPipeline(model, optimizer, loss_fn, PipelineOptions(microbatches=8))
        for inputs, targets in loader:  # the same batch on each rank
            optimizer.zero_grad()
            loss = pipeline.step(inputs, targets)
            optimizer.step()

    The model is cut when the first batch comes. Each rank then keeps the parameters of its own
    stages, with the values of the first rank, and the optimizer steps these. Gradients and loss
    are those of one process, as far as the loss is a mean over samples. Dropout draws other
    masks than one process would. ``optimizer.zero_grad()`` may come before or after.
    """

    def __init__(  # noqa: PLR0913  options by name
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        loss_fn: Callable[[Any, Any], torch.Tensor] | None,
        options: PipelineOptions,
        *,
        group: dist.ProcessGroup | None = None,
        peers: Peers | None = None,
        device: torch.device | None = None,
    ) -> None:
        """Keep what is given; nothing is cut yet.

        Args:
            model: The whole model, on each rank, with values.
            optimizer: Its optimizer.
            loss_fn: Called with an output of the model and the targets of it; returns a mean.
                None: the ``loss`` of the output is taken, as models of transformers have it.
            options: How it is cut and run.
            group: The ranks; None: all of the default group.
            peers: The ranks that run the same stages in other pipelines; None: there are none.
            device: Device of this rank; None: the accelerator of its local rank, else the CPU.

        Raises:
            EntryPointError: The model, the schedule or the number of microbatches cannot be
                run so.
        """
        check_torch()
        self.model, self.optimizer, self.options = model, optimizer, options
        self.device = device or trainer_device()
        self._group = group
        self._peers = peers or Peers()
        self._ranks = dist.get_world_size(group)
        self._kind = schedule_kind(options.schedule)
        self._num_stages = self._ranks * self._kind.stages_per_rank(options.stages_per_rank)
        self._kind.check(self._ranks, self._num_stages, options.microbatches)
        check_model(model, optimizer)
        self._loss_of = loss_of_output if loss_fn is None else loss_fn
        self._built: Built | None = None
        self._shapes = BatchShapes()
        self._pending: dict[str, Any] | None = None
        self._is_mean_checked = False
        self.on_built: Callable[[Built], None] = lambda _: None
        """Called once the model is cut, before its first step."""
        self.all_reduce: Callable[[torch.Tensor, Any], None] = sum_over
        """Sums a bucket of gradients over the replicas, in place."""

    @property
    def partition(self) -> Partition | None:
        """Where the model is cut; None: no batch has come yet."""
        return None if self._built is None else self._built.partition

    @property
    def ranks(self) -> list[int]:
        """Ranks of the job that run its stages, in order."""
        return dist.get_process_group_ranks(self._group)

    @property
    def is_built(self) -> bool:
        """Whether the model is cut already."""
        return self._built is not None

    def step(
        self,
        inputs: Any,  # noqa: ANN401  any batch
        targets: Any = None,  # noqa: ANN401  as above
        loss_fn: Callable[[Any, Any], torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """Run forward and backward of a batch; return its mean loss, on each rank.

        Gradients are added to what the parameters have, as ``loss.backward()`` does. Replicas
        have batches of their own: gradients are those of all, the loss is that of this one.

        Args:
            inputs: The model's argument, a tuple of them, or keyword arguments by name. All
                ranks give the same; each tensor that is as long as the batch is divided.
            targets: What the loss needs beside the output.
            loss_fn: In place of the one that the pipeline was made with.

        Raises:
            EntryPointError: The batch does not divide, has other shapes than the first one, or
                the model cannot be cut.
        """
        parts = split_batch(inputs, targets, self.options.microbatches)
        self._shapes.check(parts[0])
        if loss_fn is not None:
            self._loss_of = loss_fn
        built = self._built or self._build(parts[0])
        losses: list[torch.Tensor] = []
        failed: BaseException | None = None
        with summed(built.placement, built.subgroups):
            try:
                built.schedule.step(
                    kwarg_mbs=parts,
                    target_mbs=[None] * len(parts),
                    losses=losses,
                    return_outputs=False,
                )
            except RuntimeError as error:
                failed = _what_failed(error)
            if failed is not None:  # raised while torch's is handled it would be its own cause
                raise failed
        placement = built.placement
        own = (placement.parameters[number] for number in placement.own)
        self._peers.average(own, self.all_reduce)
        return loss_everywhere(losses, built, self._group, self.device)

    def clip_grad_norm(self, max_norm: float, norm_type: float = 2.0) -> torch.Tensor:
        """Scale the gradients down to a norm; return the norm before, over all stages.

        Raises:
            EntryPointError: No batch has come yet.
        """
        total = self.grad_norm(norm_type)
        trained = [one for one in self.model.parameters() if one.grad is not None]
        scale_down(trained, max_norm, total)
        return total

    def grad_norm(self, norm_type: float = 2.0) -> torch.Tensor:
        """Return the norm of the gradients, over all stages.

        Raises:
            EntryPointError: No batch has come yet.
        """
        if self._built is None:
            raise EntryPointError(
                "clip_grad_norm() came before the first step(), so there are no gradients. "
                "Call step(inputs, targets) first."
            )
        return grad_norm(self._built.placement, norm_type, self._group, self._peers.parts)

    def full_state(self) -> dict[str, Any]:
        """Return ``model`` and ``optimizer`` as of one process, on the first rank.

        All ranks ask for it at the same place; the others get nothing.
        """
        if not self._peers.is_first_replica:
            return {}
        return full_state(self.model, self.optimizer, self._built, self._group, self._peers)

    def load_full_state(self, state: Mapping[str, Any] | None) -> None:
        """Take over what ``full_state`` returned, here or with any other layout.

        All ranks call it at the same place. Before the first batch it is kept until the model
        is cut.

        Args:
            state: ``model`` and ``optimizer``, on the first rank; elsewhere it is not looked
                at.

        Raises:
            EntryPointError: A part is missing, or is of another model.
        """
        if self._built is None:
            self._pending = dict(state or {})
        else:
            load_full_state(
                self.model,
                self.optimizer,
                self._built,
                state,
                group=self._group,
                peers=self._peers,
            )

    def _loss(self, output: Any, targets: Any) -> torch.Tensor:  # noqa: ANN401  any output
        """Return a loss by the function of this step."""
        loss = self._loss_of(output, targets)
        if self._built is not None and not self._is_mean_checked:
            self._is_mean_checked = True
            check_mean(self._loss_of, output, targets, loss)
        return loss

    def _build(self, part: dict[str, Any]) -> Built:
        from smtc_lab.parallel.pipeline.building import build  # noqa: PLC0415  tells that it is used

        self._built = build(
            self.model,
            self.optimizer,
            self._loss,
            self.options,
            part,
            kind=self._kind,
            num_stages=self._num_stages,
            group=self._group,
            peers=self._peers,
            device=self.device,
        )
        if self._pending is not None:
            pending, self._pending = self._pending, None
            self.load_full_state(pending)
        self.on_built(self._built)
        return self._built


def _what_failed(error: BaseException) -> BaseException:
    """Return what torch's schedule failed of: our own error, or else the first of the chain."""
    while not isinstance(error, SmtcLabError) and error.__cause__ is not None:
        error = error.__cause__
    return error
