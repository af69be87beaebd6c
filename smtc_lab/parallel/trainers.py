"""What a session does with the trainers of its job, in the one order that is right."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.instance.mesh import TrainerLayout, mesh_sizes, num_batches
from smtc_lab.parallel.activations.kept import keep_less
from smtc_lab.parallel.full_state import full_state, load_full_state
from smtc_lab.parallel.gradients import clip_grad_norm, microbatches
from smtc_lab.parallel.group import gathered, is_joined, join_group, trainer_device
from smtc_lab.parallel.mesh import TrainerMesh
from smtc_lab.parallel.optimizer import check_parameters
from smtc_lab.parallel.same_batch import check_same_batch
from smtc_lab.parallel.staged import divided, in_parts, staged, whole_step
from smtc_lab.parallel.staged_state import full_state_of, load_full_state_of
from smtc_lab.parallel.wrapping import replicate, shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from smtc_lab.parallel.pipeline.pipeline import ModelPipeline
    from smtc_lab.parallel.tensor.model import TensorModel

_LOCAL_BATCH_NORMS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)
"""Take statistics of one trainer's samples, unlike ``SyncBatchNorm``."""


class Trainers:
    """The trainers of a job as one of them sees them."""

    def __init__(
        self,
        *,
        world_size: int,
        layout: TrainerLayout | None,
        is_bf16: bool,
        say: Callable[[str, str], None],
    ) -> None:
        """Keep what is known; no group is joined yet.

        Args:
            world_size: Trainers of the job.
            layout: How they share the model; None: each has a replica.
            is_bf16: Whether the job computes in bfloat16.
            say: Tells people; called with a kind of event and a sentence.

        Raises:
            EntryPointError: The layout is for another number of trainers.
        """
        layout = layout or TrainerLayout(data=world_size)
        sizes = mesh_sizes(layout)._asdict()
        if prod(sizes.values()) != world_size:
            told = " times ".join(
                f"{name}={size}"
                for name, size in sizes.items()
                if size > 1 or name in {"data", "shard"}
            )
            raise EntryPointError(
                f"The distribution is {told}, but there are {world_size} trainers. Make the "
                f"product {world_size}."
            )
        self._world_size = world_size
        self._layout = layout
        self._is_bf16 = is_bf16
        self._say = say
        self._given: torch.nn.Module | None = None
        self._is_compiled = False
        self._num_microbatches = 1
        self._has_told_batch_norm = False
        self.pipeline: ModelPipeline | None = None
        """What runs the stages of a prepared model; None: the job has no pipeline."""

        self.model: torch.nn.Module | None = None
        """The model as it is trained; None: it was not prepared."""

        self._in_parts: TensorModel | None = None
        self._same: Any = None
        """Process group that takes the same batch, before the first step."""

    def prepare(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        find_unused_parameters: bool = False,
    ) -> torch.nn.Module:
        """Return a model that all trainers train together; the optimizer steps it from now on.

        Raises:
            EntryPointError: It was prepared or compiled before, or the optimizer steps other
                parameters too.
        """
        self._check_order(model)
        self._given = self.model = model
        layout = self._layout
        if self._world_size == 1:
            keep_less(model, layout, self._say)
            return model
        check_parameters(model, optimizer)
        device = trainer_device()
        join_group(device, world_size=self._world_size)
        mesh = TrainerMesh(layout)
        self._same = mesh.group("pipeline", "tensor")
        parts = None
        if layout.tensor > 1:
            parts = divided(model, optimizer, mesh, self._say)
        keep_less(model, layout, self._say)
        if layout.pipeline > 1:
            self.pipeline = staged(model, optimizer, layout, device, mesh=mesh, parts=parts)
            return model
        model.to(device)
        if layout.shard > 1:
            self.model = shard(model, optimizer, layout, device, is_bf16=self._is_bf16)
        elif layout.data > 1:
            group = None if parts is None else mesh.group("data")
            self.model = replicate(
                model, device, finds_unused=find_unused_parameters, group=group
            )
        if parts is not None:
            self._in_parts = in_parts(model, optimizer, parts, mesh, self.model)
        return self.model

    def step(
        self,
        inputs: Any,  # noqa: ANN401  any batch
        targets: Any,  # noqa: ANN401  as above
        loss_fn: Callable[[Any, Any], torch.Tensor] | None,
    ) -> torch.Tensor:
        """Run forward and backward of a batch; see ``Session.step``.

        Raises:
            EntryPointError: No model was prepared, or a pipeline cannot run the batch.
        """
        if self.model is None:
            raise EntryPointError(
                "session.step() came before session.prepare(), so it has no model. Call model, "
                "optimizer = session.prepare(model, optimizer) first."
            )
        if self._same is not None:
            group, self._same = self._same, None
            is_told_by_targets = self._layout.tensor == 1 and targets is not None
            check_same_batch(targets if is_told_by_targets else (inputs, targets), group)
        if self.pipeline is not None:
            return self.pipeline.step(inputs, targets, loss_fn)
        return whole_step(self.model, inputs, targets, loss_fn)

    def clip_grad_norm(self, model: torch.nn.Module, max_norm: float) -> torch.Tensor:
        """Scale gradients down to an L2 norm; return that of the whole model before."""
        shared = self.pipeline or self._in_parts
        return (
            clip_grad_norm(model, max_norm)
            if shared is None
            else shared.clip_grad_norm(max_norm)
        )

    def full_state(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """Return parts of a checkpoint with models and optimizers as of one process.

        All ranks ask for it at the same place; only rank 0 gets what is in the models.

        Raises:
            EntryPointError: There are models or optimizers that the trainers do not share.
        """
        shared = self.pipeline or self._in_parts
        return full_state(parts) if shared is None else full_state_of(shared, parts)

    def load_full_state(
        self, parts: Mapping[str, Any], found: tuple[dict[str, Any], int] | None
    ) -> tuple[dict[str, Any], int] | None:
        """Give models and optimizers what rank 0 read; return the other parts and the step.

        Raises:
            EntryPointError: The checkpoint has no such part.
        """
        shared = self.pipeline or self._in_parts
        if shared is None:
            return load_full_state(parts, found)
        return load_full_state_of(shared, parts, found)

    def _check_order(self, model: torch.nn.Module) -> None:
        if self.model is not None:
            raise EntryPointError(
                "session.prepare() was called twice, but a job trains one model. Put the "
                "models into one module, and prepare that."
            )
        compiled = any(_is_compiled(one) for one in model.modules())
        if self._is_compiled or compiled:
            raise EntryPointError(
                f"{type(model).__name__} was compiled before session.prepare(), so trainers "
                "could not exchange gradients while the compiled code runs. Call "
                "session.prepare() first, and session.compile() with what it returns."
            )

    def check_compiled(self, model: torch.nn.Module) -> None:
        """Take note that a model is compiled now.

        Raises:
            EntryPointError: It is another one than the trainers share.
        """
        self._is_compiled = True
        if self._world_size == 1:
            return
        if self._layout.pipeline > 1:
            raise EntryPointError(
                f"The job has a pipeline of {self._layout.pipeline} trainers, whose stages are "
                "not compiled in this version. Call session.step(inputs, targets, loss_fn) in "
                "place of a compiled step."
            )
        shared = self._layout.shard * self._layout.tensor
        if self.model is None and shared > 1:
            raise EntryPointError(
                f"The job shards its model over {shared} trainers, but session.compile() came "
                "before session.prepare(). Call model, optimizer = session.prepare(model, "
                "optimizer) first."
            )
        if self.model is not None and model is not self.model:
            what = "as it was before" if model is self._given else "that was not given to"
            raise EntryPointError(
                f"session.compile() got the model {what} session.prepare(): each of the "
                f"{self._world_size} trainers would train its own. Give it the model that "
                "session.prepare() returned."
            )

    def microbatches(self, batch: Any, count: int) -> Iterator[Any]:  # noqa: ANN401  any batch
        """Yield parts of a batch whose gradients are reduced once; see ``microbatches``."""
        self._num_microbatches = count
        return microbatches(self.model, batch, count)

    def check_counts(self, loader: Any) -> None:  # noqa: ANN401  any loader
        """Refuse a loader that has more batches on one trainer than on another.

        Trainers wait for each other in every step: one that has no batch left would leave the
        others waiting for ever.

        Raises:
            EntryPointError: The counts differ; on all trainers.
        """
        if self.model is None or not is_joined():
            return
        try:
            mine = len(loader)
        except TypeError:  # a stream has no length
            mine = -1
        counts = gathered(mine)
        if len(set(counts)) > 1:
            told = ", ".join("unknown" if one < 0 else str(one) for one in counts)
            raise EntryPointError(
                f"The trainers have unequal numbers of batches (by rank: {told}), and would "
                "wait for each other without end. Make the loader with session.dataloader(), "
                "or give every trainer equally many."
            )

    def stepped(self, num_samples: int | None) -> None:
        """Say once what batch normalization takes its statistics of.

        Args:
            num_samples: Samples of this trainer's batch; None: not known.
        """
        if self._has_told_batch_norm or self.model is None or self._world_size == 1:
            return
        self._has_told_batch_norm = True
        if num_samples is None or not any(
            isinstance(one, _LOCAL_BATCH_NORMS) for one in self.model.modules()
        ):
            return
        each = num_samples // self._num_microbatches
        of_all = num_samples * num_batches(self._layout)
        self._say(
            "batch_norm",
            f"BatchNorm takes its statistics of the {each} samples of each trainer, not of the "
            f"{of_all} of a step: the result depends on the number of trainers.",
        )


def _is_compiled(module: torch.nn.Module) -> bool:
    is_optimized = hasattr(module, "_orig_mod")  # what torch.compile returns
    return is_optimized or getattr(module, "_compiled_call_impl", None) is not None
