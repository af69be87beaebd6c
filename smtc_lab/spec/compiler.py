"""How the training step is compiled."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from smtc_lab.spec.base import Strict, init_of_pydantic

Backend = Literal["auto", "inductor", "xla", "eager"]
"""``auto`` measures the others on the real step and keeps the one that ends the job first."""

Precision = Literal["highest", "high", "medium", "bf16"]
"""``highest``, ``high``, ``medium``: float32 with that ``torch.set_float32_matmul_precision``.
``bf16``: automatic mixed precision with bfloat16."""

MAX_TIMEOUT_S = 24 * 3600.0
"""Longest compile time limit: a day."""


class TrainingCompilerConfig(Strict):
    """Compiler settings of a job. Takes SageMaker's own arguments, and more by name.

    Each setting that can make a step faster is a factor of its own, so that a comparison can
    tell what the compiler brings from what the optimizer, the precision or the memory bring.
    """

    enabled: bool = True
    """Whether the training step is handed to the compiler at all. False: the script runs as it
    is, and every other setting is without effect."""

    debug: bool = False
    """Whether the compiler writes its intermediate files to ``output/data/compiler``. Slows the
    first steps down."""

    backend: Backend = "auto"
    """Compiler backend."""

    precision: Precision = "highest"
    """Precision of matrix products. Whatever is below ``highest`` changes the numbers."""

    fused_optimizer: bool = True
    """Whether the optimizer updates all parameters in one kernel, where torch has one for it.
    Same formula; the last digits may differ."""

    keep_memory: bool = True
    """Whether memory on the host that tensors gave back is kept for the next ones (glibc only).
    The numbers stay the same; resident memory may grow."""

    mode: Literal["default", "reduce-overhead", "max-autotune"] = "default"
    """Mode of ``torch.compile``; only for inductor."""

    dynamic: bool | None = None
    """Whether inductor compiles for any shape. None: for the shapes that it sees, and for any
    shape once one changed."""

    per_block: bool | None = None
    """Whether layers that repeat are compiled one by one, and once only, instead of the whole
    model; only for inductor. None: where at least four layers are alike."""

    fallback: Literal["error", "eager"] = "error"
    """What happens when a model cannot be compiled: the run ends and says why, or goes on
    eagerly and says so."""

    timeout_s: Annotated[
        float, Field(json_schema_extra={"exclusiveMinimum": 0, "maximum": MAX_TIMEOUT_S})
    ] = 1800.0
    """Seconds that one compilation may take, at most a day. XLA's cannot be interrupted: after
    them the run ends, also with ``fallback="eager"``."""

    cache: bool = True
    """Whether compiled code is kept for later runs of this user; only for inductor."""

    check_parity: bool = True
    """Whether a comparison checks that the losses and the final weights equal the eager ones,
    in launches of their own."""

    @init_of_pydantic
    def __init__(
        self,
        /,
        enabled: bool = True,  # noqa: FBT001, FBT002  SageMaker's signature
        debug: bool = False,  # noqa: FBT001, FBT002  SageMaker's signature
        **data: Any,  # noqa: ANN401  pydantic checks the fields
    ) -> None:
        super().__init__(enabled=enabled, debug=debug, **data)

    @field_validator("timeout_s")
    @classmethod
    def _timeout_is_legal(cls, seconds: float, info: ValidationInfo) -> float:
        if not 0 < seconds <= MAX_TIMEOUT_S:
            raise ValueError(
                f"{info.field_name}={seconds} is outside 0 to {MAX_TIMEOUT_S:g} seconds. Give "
                "the longest time that one compilation may take."
            )
        return seconds
