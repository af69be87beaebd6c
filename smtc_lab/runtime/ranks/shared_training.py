"""What a session offers a script whose model several trainers share."""

from __future__ import annotations

import os
from collections.abc import Sized
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch.utils.data import IterableDataset

from smtc_lab.dataservice.rank_batches import RankBatches
from smtc_lab.instance.mesh import batch_place, num_batches
from smtc_lab.instance.resource_config import BASE_FOLDER_VARIABLE
from smtc_lab.parallel.full_state import is_live
from smtc_lab.parallel.trainers import Trainers
from smtc_lab.runtime.checkpoint import load_checkpoint, save_checkpoint
from smtc_lab.runtime.ranks.following import follow_prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import torch

    from smtc_lab.runtime.instance_runtime import InstanceRuntime


class SharedTraining:
    """The trainers' part of a ``Session``: wrapping, gradients, samples, checkpoints."""

    def __init__(self, runtime: InstanceRuntime) -> None:
        self._runtime = runtime
        self._context = runtime.context

    @cached_property
    def _trainers(self) -> Trainers:
        context = self._context
        config = context.compiler
        return Trainers(
            world_size=context.world_size,
            layout=context.distribution,
            is_bf16=config is not None and config.enabled and config.precision == "bf16",
            say=self._runtime.event,
        )

    def prepare(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        find_unused_parameters: bool = False,
    ) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
        """Return model and optimizer as the trainers of the job share them.

        Joins the process group where the script has not, and wraps the model for DDP, FSDP2 or
        both, as the job's ``distribution`` says. The optimizer is the same object with the same
        hyperparameters, and steps this trainer's shards. To be called once, before
        ``compile``. With one trainer both come back as they are.

        Args:
            model: The model; it is moved to this trainer's device.
            optimizer: An optimizer of its parameters.
            find_unused_parameters: As for ``DistributedDataParallel``; some parameters may be
                without a gradient in a step.

        Raises:
            EntryPointError: The model was prepared or compiled before, the optimizer steps
                other parameters too, or the layout does not fit the trainers.
        """
        wrapped = self._trainers.prepare(
            model, optimizer, find_unused_parameters=find_unused_parameters
        )
        follow_prepared(self._runtime, wrapped)
        if self._trainers.pipeline is not None:
            from smtc_lab.runtime.ranks.stages import watch_stages  # noqa: PLC0415  others do without

            watch_stages(self._runtime, self._trainers.pipeline)
        if self._runtime.compilation is not None:
            layout = self._context.distribution
            has_parts = layout is not None and layout.pipeline * layout.tensor > 1
            gather = partial(self._whole_weights, model) if has_parts else None
            self._runtime.compilation.watch(wrapped, gather)
        return wrapped, optimizer

    def step(
        self,
        inputs: Any,  # noqa: ANN401  any batch
        targets: Any = None,  # noqa: ANN401  as above
        loss_fn: Callable[[Any, Any], torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """Run forward and backward of a batch through the prepared model; return its mean loss.

        In a job with a pipeline the batch goes through the stages as microbatches, and each
        trainer has the parameters of its own stages from the first step on. Elsewhere it is
        what a script would write: output, loss, backward. Gradients are averaged over replicas
        and added up until the optimizer zeroes them; the loss is that of this trainer's batch.

        Args:
            inputs: The model's argument, a tuple of them, or keyword arguments by name.
            targets: What the loss needs beside the output.
            loss_fn: Called with output and targets; returns a mean over samples. None: the
                output's own ``loss``, as models of transformers have it.

        Raises:
            EntryPointError: No model was prepared, or it or the batch cannot be run so.
        """
        loss = self._trainers.step(inputs, targets, loss_fn)
        if self._trainers.pipeline is not None and self._runtime.compilation is not None:
            self._runtime.compilation.take_loss(loss)
        return loss

    def accumulate(self, batch: Any, num_microbatches: int) -> Iterator[Any]:  # noqa: ANN401  any batch
        """Yield equal parts of a batch; trainers exchange gradients with the last one only.

        Forward and backward of each part belong into the loop, and each loss is divided by
        ``num_microbatches``.

        Args:
            batch: What the dataloader gave.
            num_microbatches: Its parts; must divide the number of samples.

        Raises:
            EntryPointError: It does not.
        """
        return self._trainers.microbatches(batch, num_microbatches)

    def clip_grad_norm(self, model: torch.nn.Module, max_norm: float) -> torch.Tensor:
        """Scale gradients down to an L2 norm; return the norm before, of the whole model.

        Right for sharded models too, where each trainer has a part of every gradient.

        Args:
            model: The model that ``prepare`` returned.
            max_norm: Greatest norm that is left as it is.
        """
        return self._trainers.clip_grad_norm(model, max_norm)

    def save_checkpoint(self, *, step: int, **state: Any) -> Path:  # noqa: ANN401  what torch.save takes
        """Write a checkpoint, whole or not at all.

        With a model or an optimizer itself among the parts it is one checkpoint of all
        trainers, which any layout can load: all of them call this, and rank 0 writes. Else
        each trainer writes its own.

        Args:
            step: Steps that have ended.
            **state: Named parts: ``model=model, optimizer=optimizer``, or what ``torch.save``
                takes, such as ``model.state_dict()``.

        Returns:
            Path of the checkpoint's mark; of a checkpoint of all, on rank 0's machine.
        """
        if not any(map(is_live, state.values())):
            return save_checkpoint(self._checkpoints(), state, step=step)
        folder, whole = self._checkpoints(of_all=True), self._trainers.full_state(state)
        if self._context.rank:
            return folder / f"step-{step:012d}.json"
        return save_checkpoint(folder, whole, step=step)

    def load_checkpoint(self, **parts: Any) -> tuple[dict[str, Any], int] | None:  # noqa: ANN401  models and optimizers
        """Return the parts of the newest complete checkpoint and its step; None: none.

        ::

            found = session.load_checkpoint(model=model, optimizer=optimizer)
            done = 0 if found is None else found[1]

        Args:
            **parts: Models and optimizers, by the names that they were saved by. They get what
                the checkpoint of all trainers holds, whatever layout wrote it, and are not
                among what is returned. All trainers call this.

        Returns:
            What else was saved, by name, and the steps that had ended; without ``parts`` all
            that this trainer saved. None: this run has no checkpoint yet.

        Raises:
            EntryPointError: The checkpoint lacks a part, or cannot be loaded safely.
        """
        if not parts:
            return load_checkpoint(self._checkpoints())
        is_first = not self._context.rank
        found = load_checkpoint(self._checkpoints(of_all=True)) if is_first else None
        return self._trainers.load_full_state(parts, found)

    def _whole_weights(self, model: torch.nn.Module) -> Mapping[str, Any]:
        """Return a model's state as of one process, to rank 0. All trainers call this."""
        found: Mapping[str, Any] = self._trainers.full_state({"model": model})["model"] or {}
        return found

    def _checkpoints(self, *, of_all: bool = False) -> Path:
        base = Path(os.environ.get(BASE_FOLDER_VARIABLE, "."), "checkpoints")
        return base if of_all else base / self._context.checkpoint_folder

    @property
    def _batches(self) -> tuple[int, int]:
        """Which of the batches of a step this trainer takes, and how many there are."""
        layout, rank = self._context.distribution, self._context.rank
        if layout is None:
            return rank, self._context.world_size
        return batch_place(rank, layout), num_batches(layout)

    def _rank_options(self, dataset: Any, options: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401  any dataset
        """Return a dataloader's options with this trainer's part of the samples."""
        rank, ranks = self._batches
        context = self._context
        # where weights are compared, so are orders
        is_plain = context.world_size == 1 and context.parity_steps is None
        if is_plain or options.get("sampler") or options.get("batch_sampler"):
            return options
        if isinstance(dataset, IterableDataset) or not isinstance(dataset, Sized):
            if ranks == 1:
                return options
            self._runtime.event(
                "warning",
                f"{type(dataset).__name__} is iterated as a stream: each of the {ranks} "
                "trainers reads all of it, unless it divides itself by rank.",
            )
            return options
        batch_size = options.get("batch_size", 1)
        if batch_size is None:
            return options
        own = {"batch_size", "shuffle", "drop_last"}
        batches = RankBatches(
            len(dataset),
            batch_size=batch_size,
            rank=rank,
            num_ranks=ranks,
            seed=self._context.seed,
            shuffle=bool(options.get("shuffle")),
            drop_last=bool(options.get("drop_last")),
            generator=options.get("generator"),
        )
        left = {name: value for name, value in options.items() if name not in own}
        return {**left, "batch_sampler": batches}
