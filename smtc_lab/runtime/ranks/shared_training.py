"""What a session offers a script whose model several trainers share."""

from __future__ import annotations

import os
from collections.abc import Sized
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch.utils.data import IterableDataset

from smtc_lab.dataservice.rank_batches import RankBatches
from smtc_lab.instance.resource_config import BASE_FOLDER_VARIABLE
from smtc_lab.parallel.full_state import full_state, is_live, load_full_state
from smtc_lab.parallel.gradients import clip_grad_norm
from smtc_lab.parallel.link.fsdp import pace_fsdp
from smtc_lab.parallel.trainers import Trainers
from smtc_lab.runtime.checkpoint import load_checkpoint, save_checkpoint
from smtc_lab.runtime.ranks.paces import declared_shard_pace

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        is_alone = context.role == "data"  # it has no rank among the trainers
        config = context.compiler
        return Trainers(
            world_size=1 if is_alone else context.world_size,
            layout=None if is_alone else context.distribution,
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
        pace = None if self._context.role == "data" else declared_shard_pace(self._context)
        if pace is not None:
            pace_fsdp(wrapped, pace)
        if self._runtime.compilation is not None:
            self._runtime.compilation.watch(wrapped)
        return wrapped, optimizer

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
        return clip_grad_norm(model, max_norm)

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
        whole, folder = full_state(state), self._checkpoints(of_all=True)
        if self._context.rank:
            return folder / f"step-{step:012d}.json"
        return save_checkpoint(folder, whole, step=step)

    def load_checkpoint(self, **parts: Any) -> tuple[dict[str, Any], int] | None:  # noqa: ANN401  models and optimizers
        """Return the parts of the newest complete checkpoint and its step; None: none.

        Args:
            **parts: Models and optimizers, by the names that they were saved by. They get what
                the checkpoint of all trainers holds, whatever layout wrote it, and are not
                among what is returned. All trainers call this.
        """
        if not parts:
            return load_checkpoint(self._checkpoints())
        is_first = not self._context.rank
        found = load_checkpoint(self._checkpoints(of_all=True)) if is_first else None
        return load_full_state(parts, found)

    def _checkpoints(self, *, of_all: bool = False) -> Path:
        base = Path(os.environ.get(BASE_FOLDER_VARIABLE, "."), "checkpoints")
        return base if of_all else base / self._context.checkpoint_folder

    def _rank_options(self, dataset: Any, options: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401  any dataset
        """Return a dataloader's options with this trainer's part of the samples."""
        ranks = self._context.world_size if self._context.role == "train" else 1
        is_plain = ranks == 1 and self._context.parity_steps is None  # else orders are compared
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
            rank=self._context.rank,
            num_ranks=ranks,
            seed=self._context.seed,
            shuffle=bool(options.get("shuffle")),
            drop_last=bool(options.get("drop_last")),
            generator=options.get("generator"),
        )
        left = {name: value for name, value in options.items() if name not in own}
        return {**left, "batch_sampler": batches}
