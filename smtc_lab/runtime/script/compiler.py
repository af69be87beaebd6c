"""Compiles the models of an unmodified script where they stand."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parallel import DistributedDataParallel

from smtc_lab.compiler.choosing.chooser import Chooser
from smtc_lab.compiler.choosing.trial import Probing
from smtc_lab.compiler.module_call import eager_call, replace_call, replaced_call
from smtc_lab.compiler.optimizers import FusedOptimizer
from smtc_lab.compiler.precision import device_of, use_bfloat16
from smtc_lab.errors import CompilerError
from smtc_lab.runtime.script.watch import ScriptWatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.compiler.compilation import Compilation
    from smtc_lab.compiler.inductor.backend import CompiledModel

_MOST_MODELS = 16
"""A script that calls more modules than this one by one has no few models to compile."""

_NO_XLA = (
    'not tried: a script chooses its device itself. Change its device line to device = "xla", '
    'and set backend="xla"'
)


class ScriptCompiler:
    """What a session's step is to a session: the compiled models of a script.

    Eager, inductor, or auto, which lets the two take turns until it knows the quicker one.
    """

    def __init__(self, compilation: Compilation, *, say: Callable[[str, str], None]) -> None:
        """Wait for the script's first model.

        Args:
            compilation: The compiler of this process.
            say: Tells people; called with a kind of event and a sentence.
        """
        self._config = compilation.config
        self._say = say
        self._models: list[torch.nn.Module] = []
        self._compiled: list[CompiledModel] = []
        self._optimizers: list[FusedOptimizer] = []
        self._changes = ExitStack()
        self._device = torch.device("cpu")
        self._num_left_alone = 0
        self._fell_back_because = compilation.not_xla if self._config.backend == "xla" else None
        self._trial: Probing | None = None
        self._wants: str = self._config.backend
        if self._wants == "auto":
            self._wants = "eager"
            chooser = Chooser(["eager", "inductor"], num_steps=lambda: compilation.num_steps)
            self._trial = Probing(chooser, not_tried={"xla": _NO_XLA}, say=say)
            compilation.on_step = partial(self._try, self._trial)
        self._compilation = compilation
        self._watch = ScriptWatch(on_model=self._adopt, on_optimizer=self._fuse)

    @property
    def backend(self) -> str:
        """The backend that runs the next step."""
        return self._wants if self._compiled and not self._fell_back_because else "eager"

    @property
    def is_settled(self) -> bool:
        """Whether the backend stays."""
        return self._trial is None or self._trial.chooser.is_done

    def stop(self) -> None:
        """Leave everything to a session, which the script uses after all."""
        self._watch.close()
        self._compilation.on_step = None
        self._go_eager()
        for optimizer in self._optimizers:
            optimizer.undo()

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport``."""
        notes = [
            f"The optimizer is not fused: {it.problem}" for it in self._optimizers if it.problem
        ]
        if self._num_left_alone:
            notes.append(
                f"{self._num_left_alone} modules that the script calls one by one are not "
                f"compiled: only the first {_MOST_MODELS} are."
            )
        facts: dict[str, Any] = {
            "backend": self.backend,
            "device": self._device.type,
            "fell_back_because": self._fell_back_because,
            "per_block": sum(it.num_blocks or 0 for it in self._compiled) or None,
            "notes": tuple(notes),
        }
        if self._optimizers:
            facts["fused_optimizer"] = all(it.problem is None for it in self._optimizers)
        if not self._models and self._config.backend != "eager":
            facts["fell_back_because"] = "the script called no model to train it"
        return facts if self._trial is None else facts | self._trial.facts()

    def _adopt(self, called: torch.nn.Module) -> None:
        """Take a model over that is about to be called for the first time."""
        model = called.module if isinstance(called, DistributedDataParallel) else called
        if len(self._models) >= _MOST_MODELS:
            self._num_left_alone += 1
            return
        if self._fell_back_because is not None and not self._models:
            self._say("warning", f"The script goes on eagerly: {self._fell_back_because}")
        self._models.append(model)
        self._compilation.watch(model)
        self._device = device_of(model)
        if self._wants == "inductor":
            self._compile(model)
        elif self._config.precision == "bf16":
            self._changes.callback(use_bfloat16(model))

    def _fuse(self, optimizer: torch.optim.Optimizer) -> None:
        if self._config.fused_optimizer:
            self._optimizers.append(FusedOptimizer(optimizer))

    def _compile(self, model: torch.nn.Module) -> None:
        from smtc_lab.compiler.inductor.backend import CompiledModel  # noqa: PLC0415  takes seconds; eager does without

        try:
            compiled = CompiledModel(model, self._config, on_failure=self._failed)
        except CompilerError as error:
            self._failed(error)
        else:
            self._compiled.append(compiled)
            self._changes.callback(compiled.leave)
            self._changes.callback(_compile_training_only(model))
        if self._config.precision == "bf16":
            self._changes.callback(use_bfloat16(model))

    def _failed(self, error: CompilerError) -> None:
        """Go on eagerly, where that is allowed; called in the middle of a forward."""
        if self._trial is None and self._config.fallback == "error":
            raise error
        if self._trial is not None and not self._trial.chooser.is_done:
            self._trial.failed(error)
            return
        self._fell_back_because = str(error)
        self._say("warning", f"The script goes on eagerly: {error}")

    def _try(self, trial: Probing, busy_s: float) -> None:
        """Let the next step run under the backend that is to be measured next."""
        trial.ended(busy_s, self._device)
        if trial.chooser.is_done:
            self._compilation.on_step = None
        self._switch_to(trial.chooser.current)

    def _switch_to(self, backend: str) -> None:
        if backend == self._wants:
            return
        self._wants = backend
        if backend == "eager" and self.is_settled:
            self._go_eager()
        elif backend == "eager":
            torch.compiler.set_stance("force_eager")  # what was compiled stays, and rests
        else:
            torch.compiler.set_stance("default")
            if not self._compiled:
                self._changes.close()
                for model in self._models:
                    self._compile(model)

    def _go_eager(self) -> None:
        """Run the models as they were written."""
        torch.compiler.set_stance("default")
        self._changes.close()
        self._compiled.clear()
        if self._config.precision == "bf16":
            for model in self._models:
                self._changes.callback(use_bfloat16(model))


def _compile_training_only(model: torch.nn.Module) -> Callable[[], None]:
    """Make calls of a compiled model that do not train it, as in evaluation, run eagerly.

    They would be compiled again for the few batches that there are. Returns what undoes it.
    """
    call = replaced_call(model) or eager_call(model)

    def called(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  whatever the model takes
        if model.training and torch.is_grad_enabled():
            return call(*args, **kwargs)
        with torch.compiler.set_stance("force_eager"):
            return call(*args, **kwargs)

    return replace_call(model, called)


def adopt_script(compilation: Compilation, *, say: Callable[[str, str], None]) -> None:
    """Compile what the script of this process trains; right after ``import torch``.

    Until it makes a session's step: then that one is compiled, and nothing else.

    Args:
        compilation: The compiler of this process.
        say: Tells people; called with a kind of event and a sentence.
    """
    compilation.prepare()
    if compilation.config.backend == "xla" and compilation.not_xla is None:
        from smtc_lab.runtime.script.xla import ScriptOnXla  # noqa: PLC0415  the others do without

        compilation.adopt(ScriptOnXla(compilation))
    else:
        compilation.adopt(ScriptCompiler(compilation, say=say))
