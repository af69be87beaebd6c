"""Runs an unmodified script on XLA, once its device line says so."""

from __future__ import annotations

import importlib
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from smtc_lab.compiler.module_call import OwnHook
from smtc_lab.compiler.precision import device_of
from smtc_lab.compiler.xla.batch_norm import UnbiasedVariances
from smtc_lab.compiler.xla.counters import XlaCounters
from smtc_lab.compiler.xla.errors import explained
from smtc_lab.compiler.xla.forward import XlaForward
from smtc_lab.compiler.xla.limit import XlaCompileLimit
from smtc_lab.compiler.xla.optimizer import Unfused, create_state
from smtc_lab.compiler.xla.programs import program_facts
from smtc_lab.compiler.xla.setup import device_kind, xla_device
from smtc_lab.errors import CompilerError
from smtc_lab.parallel.untraced import untraced
from smtc_lab.runtime.script.watch import ScriptWatch

if TYPE_CHECKING:
    from smtc_lab.compiler.compilation import Compilation


class ScriptOnXla:
    """What XLA needs around a plain loop: the end of each step, and the traps before the first.

    The script builds its model and moves it to ``"xla"`` as it would to ``"cuda"``.
    """

    backend = "xla"
    is_settled = True

    def __init__(self, compilation: Compilation) -> None:
        """Wait for the script's first model.

        Args:
            compilation: The compiler of this process, prepared.

        Raises:
            CompilerError: XLA has no device here.
        """
        torch_xla = importlib.import_module("torch_xla")
        xm = importlib.import_module("torch_xla.core.xla_model")
        self._sync, self._wait_for_device = torch_xla.sync, xm.wait_device_ops
        self._compilation = compilation
        self._device = xla_device()
        self._batch: Any = None
        self._began_s = time.perf_counter()
        self._changes = ExitStack()
        self._has_model = False
        self._notes: list[str] = []
        self._counters = XlaCounters()
        self._counters.begin_step()
        self._limit = XlaCompileLimit(
            compilation.config.timeout_s, counts=self._counters.compilations
        )
        self._watch = ScriptWatch(on_model=self._adopt, on_optimizer=self._take_over)
        self._handle = register_optimizer_step_post_hook(untraced(self._stepped))
        seed = torch.initial_seed() & (2**63 - 1)  # it takes 63 bits
        torch_xla.manual_seed(seed)

    def stop(self) -> None:
        """Leave everything to a session, which the script uses after all."""
        self._limit.close()
        self._watch.close()
        self._handle.remove()
        self._changes.close()

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        with explained(self._device):
            self._wait_for_device()

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport``."""
        return {
            **self._counters.facts(),
            **program_facts(),
            "backend": self.backend,
            "device": device_kind(),
            "fused_optimizer": False,
            "notes": tuple(self._notes),
        }

    def _adopt(self, model: torch.nn.Module) -> None:
        """Get a model ready that is about to be called for the first time.

        Raises:
            CompilerError: The script put it on another device.
        """
        device = device_of(model)
        if device.type != "xla":
            raise CompilerError(
                f"The xla backend trains what lies on the XLA device, but the "
                f"{type(model).__name__} of the script is on {device.type!r}. Change the line "
                'that chooses the device to: device = "xla". Model and batches must be moved '
                "there with .to(device). Or choose backend='inductor', which needs no edit."
            )
        self._compilation.watch(model)
        bf16 = self._compilation.config.precision == "bf16"
        forward = XlaForward(model, device=self._device, bf16=bf16)
        self._changes.callback(forward.remove)
        # A loop does not tell where its steps begin: all that follows is one. What the script
        # computes from the output stays on the device; the backward may run a forward again.
        self._changes.enter_context(forward.step())
        self._changes.callback(UnbiasedVariances(model).remove)
        if not self._has_model:
            self._has_model = True
            model.register_forward_pre_hook(OwnHook(self._saw_batch), with_kwargs=True)

    def _saw_batch(self, _: torch.nn.Module, args: Any, kwargs: Any) -> None:  # noqa: ANN401  torch's signature
        if self._batch is None:
            self._batch = (args, kwargs)

    def _take_over(self, optimizer: torch.optim.Optimizer) -> None:
        Unfused(optimizer)  # a Trainer's default is fused, for which XLA has no kernels
        if not optimizer.state:
            late_state = create_state(optimizer)
            if late_state is not None:
                self._notes.append(late_state)
            elif self._batch is None:
                self._sync()  # what it created is no part of the first step's graph

    def _stepped(self, *_: object) -> None:
        """Hand what the script has traced to the device, and wait for it."""
        with explained(self._device):
            self._sync()
            self._counters.end_step(self._batch, call_s=time.perf_counter() - self._began_s)
        self.wait()
        self._batch = None
        self._counters.begin_step()
        self._began_s = time.perf_counter()
