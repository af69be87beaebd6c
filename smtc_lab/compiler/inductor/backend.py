"""The model of a training step compiled by torch.compile, the step around it left as it is."""

from __future__ import annotations

import functools
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.fsdp import FSDPModule
from torch.nn.parallel import DistributedDataParallel

from smtc_lab.compiler.eager import EagerStep
from smtc_lab.compiler.fast_functions import FASTER_COMPILED, replaced
from smtc_lab.compiler.inductor.blocks import blocks_worth_compiling, without_generation_cache
from smtc_lab.compiler.inductor.cache import CACHE_VARIABLE, leave_cache
from smtc_lab.compiler.inductor.compile_failure import (
    compiler_error,
    compiler_failures,
    is_of_cache,
)
from smtc_lab.compiler.inductor.compile_limit import CompileLimit
from smtc_lab.compiler.inductor.compile_settings import CompileSettings
from smtc_lab.compiler.module_call import eager_call, replace_call, replaced_call
from smtc_lab.compiler.precision import device_of
from smtc_lab.compiler.torch_names import needed
from smtc_lab.errors import CompilerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.compiler.step import TrainStep
    from smtc_lab.spec.compiler import TrainingCompilerConfig


class CompiledModel:
    """A model whose calls, or those of its repeated layers, run compiled code.

    Forward and backward are both compiled at the first call, so whatever cannot be compiled
    fails there, and that call can still be made eagerly.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        config: TrainingCompilerConfig,
        *,
        on_failure: Callable[[CompilerError], None] | None = None,
    ) -> None:
        """Compile a model in place, as ``Module.compile`` does; nothing is computed yet.

        Args:
            model: The model, or DDP with the model in it, which then is what is compiled:
                of DDP itself torch compiles nothing where it does not look into the model's
                class either, as with Sequential.
            config: Mode, dynamic shapes, layers one by one, time limit.
            on_failure: Called with what went wrong; when it returns, the model runs eagerly
                from that very call on. None: the error is raised out of the call.

        Raises:
            CompilerError: The script compiles the model by itself, or this torch lacks what
                it takes.
        """
        if isinstance(model, DistributedDataParallel):
            model = model.module
        self._on_failure = on_failure
        self._undo = ExitStack()
        blocks = blocks_worth_compiling(model, per_block=config.per_block)
        blocks = blocks or _sharded_units(model)
        self.num_blocks = len(blocks) or None
        """Layers that are compiled one by one; None: the model is compiled as a whole."""

        self.failed = False
        """Whether it runs eagerly because it could not be compiled."""

        self.failures = compiler_failures()
        """What torch raises when it cannot compile."""

        for module in model.modules():
            if replaced_call(module) is not None:
                raise CompilerError(
                    f"The script compiles its {type(module).__name__} by itself, so it cannot "
                    "be compiled again. Remove torch.compile or .compile() from the script, or "
                    "set enabled=False."
                )
        self.settings = CompileSettings()
        """Settings of torch under which its calls run."""

        self._undo.callback(self.settings.undo)
        self._limit = CompileLimit(config.timeout_s)
        self._undo.callback(self._limit.close)
        if device_of(model).type == "cpu":
            self._undo.enter_context(replaced(FASTER_COMPILED))
        if blocks:
            self._undo.callback(without_generation_cache(model))
        for module in blocks or [model]:
            self._compile(module, config)

    def leave(self) -> None:
        """Run the model as it was written again. Twice is once."""
        self._undo.close()

    def _compile(self, module: torch.nn.Module, config: TrainingCompilerConfig) -> None:
        eager = eager_call(module)
        mode = None if config.mode == "default" else config.mode
        settings: Any = {"dynamic": config.dynamic, "mode": mode}
        compiled: Callable[..., Any]
        if needed("torch._dynamo.trace_rules:check")(module.forward):
            compiled = functools.partial(torch.compile(_run, **settings), module)
        else:
            compiled = torch.compile(eager, **settings)
        guarded = _GuardedCall(self, module, eager, compiled)
        self._undo.callback(replace_call(module, guarded))

    def leave_cache(self, error: BaseException) -> bool:
        """Whether a compilation failed at the cache, and is to be tried again without it."""
        folder = os.environ.get(CACHE_VARIABLE, "")
        return not self._limit.expired and is_of_cache(error, folder) and leave_cache(error)

    def give_up(self, error: BaseException) -> None:
        """Run the model eagerly from now on.

        Raises:
            CompilerError: Nobody wants to go on without the compiler.
        """
        expired, self._limit.expired = self._limit.expired, False
        self.failed = True
        problem = compiler_error(error, limit_s=self._limit.limit_s if expired else None)
        if self._on_failure is None:
            raise problem from error
        self._on_failure(problem)


def _sharded_units(model: torch.nn.Module) -> list[torch.nn.Module]:
    """Return the parts of a sharded model that are gathered one by one; empty: it is one part.

    Between them torch runs code that is not compiled, so they are compiled one by one too.
    """
    return [
        one
        for one in model.modules()
        if one is not model and issubclass(type(one), FSDPModule)  # a mixin, to mypy no module
    ]


def _run(module: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  any module
    """Call a module of torch itself, whose own code torch does not look into otherwise.

    The module is an argument, so that all layers that are alike share the compiled code.
    """
    return module._call_impl(*args, **kwargs)  # noqa: SLF001  what Module.compile compiles


class _GuardedCall:
    """The compiled call of one module, and what is done when it cannot be compiled."""

    def __init__(
        self,
        owner: CompiledModel,
        module: torch.nn.Module,
        eager: Callable[..., Any],
        compiled: Callable[..., Any],
    ) -> None:
        self.eager = eager
        """The call without the compiler."""
        self.compiled = compiled
        """The call with it."""
        self._owner = owner
        self._module = module
        self._has_run = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  whatever the model takes
        """Call the module."""
        if self._owner.failed:
            return self.eager(*args, **kwargs)
        self._owner.settings.apply()
        before = None if self._has_run else _Before(self._module)
        try:
            output = self.compiled(*args, **kwargs)
        except self._owner.failures as error:
            output = self._call_otherwise(error, before, args, kwargs)
        self._has_run = True
        return output

    def _call_otherwise(
        self,
        error: BaseException,
        before: _Before | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:  # noqa: ANN401  whatever the module returns
        """Make a call that could not be compiled without the cache, or else eagerly."""
        if before is not None:
            before.restore()
        if self._owner.leave_cache(error):
            return self(*args, **kwargs)
        # A mistake of the model itself shows here, as it would without a compiler.
        output = self.eager(*args, **kwargs)
        try:
            self._owner.give_up(error)
        except CompilerError:
            if before is not None:
                before.restore()
            raise
        return output


class _Before:
    """What a call changes beside its output: random numbers and buffers of the module."""

    def __init__(self, module: torch.nn.Module) -> None:
        on_cuda = any(it.is_cuda for it in module.parameters())
        self._random = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state_all() if on_cuda else None
        self._buffers = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]

    def restore(self) -> None:
        """Bring it back, so that the call can be made again."""
        torch.set_rng_state(self._random)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)
        with torch.no_grad():
            for buffer, value in self._buffers:
                buffer.copy_(value)


class InductorStep(EagerStep):
    """The step with its model compiled by inductor."""

    backend = "inductor"

    def __init__(
        self,
        train_step: TrainStep,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        config: TrainingCompilerConfig,
        on_failure: Callable[[CompilerError], None] | None = None,
    ) -> None:
        self._compiled = CompiledModel(model, config, on_failure=on_failure)
        super().__init__(train_step, model, optimizer, config=config)

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport`` that this backend knows, by name."""
        return {**super().facts(), "per_block": self._compiled.num_blocks}

    def leave(self) -> None:
        """Bring model and optimizer back to where they were before, with what they learnt."""
        super().leave()
        self._compiled.leave()
