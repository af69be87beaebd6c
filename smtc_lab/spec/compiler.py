"""How the training step is compiled."""

from __future__ import annotations

from typing import Any, Literal

from smtc_lab.spec.base import Strict, init_of_pydantic


class TrainingCompilerConfig(Strict):
    """Compiler settings of a job. Takes SageMaker's own arguments.

    This version runs every step eagerly: ``backend`` has one legal value. The compiled
    backends have their own entry in the change log when they come.
    """

    enabled: bool = True
    """Whether the training step is handed to the compiler at all."""

    debug: bool = False
    """Whether the compiler writes its intermediate files to ``output/data/compiler``."""

    backend: Literal["eager"] = "eager"
    """Compiler backend."""

    @init_of_pydantic
    def __init__(
        self,
        /,
        enabled: bool = True,  # noqa: FBT001, FBT002  SageMaker's signature
        debug: bool = False,  # noqa: FBT001, FBT002  SageMaker's signature
        **data: Any,  # noqa: ANN401  pydantic checks the fields
    ) -> None:
        super().__init__(enabled=enabled, debug=debug, **data)
