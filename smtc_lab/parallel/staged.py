"""One step of a model: over the stages of a pipeline, or as one process takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.parallel.arguments import arguments_of
from smtc_lab.parallel.gradients import count_all_norms
from smtc_lab.parallel.wrapping import mesh_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from smtc_lab.instance.mesh import TrainerLayout
    from smtc_lab.parallel.mesh import TrainerMesh
    from smtc_lab.parallel.pipeline.pipeline import ModelPipeline
    from smtc_lab.parallel.tensor.model import TensorModel
    from smtc_lab.parallel.tensor.parts import TensorParts


def staged(  # noqa: PLR0913  what a trainer has, by name
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    layout: TrainerLayout,
    device: torch.device,
    *,
    mesh: TrainerMesh,
    parts: TensorParts | None,
) -> ModelPipeline:
    """Return the pipeline of this trainer's replica.

    Raises:
        EntryPointError: The model cannot be run so.
    """
    from smtc_lab.parallel.pipeline.options import PipelineOptions  # noqa: PLC0415  others do without
    from smtc_lab.parallel.pipeline.peers import Peers  # noqa: PLC0415  as above
    from smtc_lab.parallel.pipeline.pipeline import ModelPipeline  # noqa: PLC0415  as above

    options = PipelineOptions(
        microbatches=layout.microbatches,
        schedule=layout.schedule,
        memory_weight=layout.memory_weight,
        pins=layout.pins,
        default_partition=layout.default_partition,
        limit_bytes=layout.limit_bytes,
    )
    pipeline = ModelPipeline(
        model,
        optimizer,
        None,
        options,
        group=mesh.group("pipeline"),
        peers=Peers(
            replicas=mesh.group("data", "shard"),
            shards=mesh_of(layout, device) if layout.shard > 1 else None,
            is_first_replica=mesh.place.data == 0,
            parts=parts,
            holders=mesh.group("data", "shard", "tensor"),
        ),
        device=device,
    )
    count_all_norms(model, pipeline.grad_norm)
    return pipeline


def divided(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    mesh: TrainerMesh,
    say: Callable[[str, str], None],
) -> TensorParts:
    """Leave this trainer its parts of the layers of a model, and say how much that is.

    Raises:
        EntryPointError: No block of the model is known, or one cannot be divided so.
    """
    from smtc_lab.parallel.tensor.parts import divide  # noqa: PLC0415  others do without

    parts = divide(model, optimizer, mesh.group("tensor"))
    if not any(mesh.place):  # one says it for all
        share = parts.divided / parts.total
        say(
            "tensor",
            f"{share:.0%} of the model's {parts.total:,} parameters are divided among "
            f"{parts.ranks} trainers; the rest is whole on each.",
        )
    return parts


def in_parts(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    parts: TensorParts,
    mesh: TrainerMesh,
    wrapped: torch.nn.Module,
) -> TensorModel:
    """Return what clips and saves a model of whose layers trainers have parts."""
    from smtc_lab.parallel.tensor.model import TensorModel  # noqa: PLC0415  as above

    speaks = mesh.place.data == 0
    made = TensorModel(model, optimizer, parts, wrapped=wrapped, speaks=speaks)
    count_all_norms(model, made.grad_norm)
    return made


def whole_step(
    model: torch.nn.Module,
    inputs: Any,  # noqa: ANN401  any batch
    targets: Any,  # noqa: ANN401  as above
    loss_fn: Callable[[Any, Any], torch.Tensor] | None,
) -> torch.Tensor:
    """Run forward and backward of a batch on a model that is not cut; return its loss."""
    args, kwargs = arguments_of(inputs)
    output = model(*args, **kwargs)
    loss: torch.Tensor = output.loss if loss_fn is None else loss_fn(output, targets)
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.detach()
