"""The training step under XLA: lazy tensors of torch_xla, on CPU and TPU."""

from __future__ import annotations

import importlib
import os
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.compiler.xla.batch_norm import UnbiasedVariances
from smtc_lab.compiler.xla.counters import XlaCounters
from smtc_lab.compiler.xla.errors import explained
from smtc_lab.compiler.xla.forward import XlaForward
from smtc_lab.compiler.xla.limit import XlaCompileLimit
from smtc_lab.compiler.xla.move import Moved, map_tensors
from smtc_lab.compiler.xla.optimizer import Unfused, create_state
from smtc_lab.compiler.xla.programs import program_facts
from smtc_lab.compiler.xla.setup import (
    device_kind,
    prepare_xla,
    refuse_several_trainers,
    xla_device,
)
from smtc_lab.compiler.xla.watch import GraphWatch
from smtc_lab.errors import CompilerError

if TYPE_CHECKING:
    from smtc_lab.compiler.step import TrainStep
    from smtc_lab.spec.compiler import TrainingCompilerConfig


class XlaStep:
    """A training step whose operators become one program for each shape of batch.

    Model and optimizer lie on the XLA device from its making until ``leave``. A step that reads
    a value on the host becomes several programs; the report tells the line.
    """

    backend = "xla"

    def __init__(
        self,
        train_step: TrainStep,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        config: TrainingCompilerConfig,
    ) -> None:
        """Move model and optimizer to the device.

        Args:
            train_step: What is compiled.
            model: On the host.
            optimizer: Of this model; may have stepped.
            config: Its ``precision`` and ``timeout_s`` are used.

        Raises:
            CompilerError: XLA cannot be used in this process.
        """
        prepare_xla()
        if torch.distributed.is_initialized():
            refuse_several_trainers(torch.distributed.get_world_size())
        torch_xla = importlib.import_module("torch_xla")
        xm = importlib.import_module("torch_xla.core.xla_model")
        self._wait = xm.wait_device_ops
        self._sync = torch_xla.sync
        self._train_step = train_step
        self._model = model
        self._optimizer = optimizer
        self._device = xla_device()
        self._pid = os.getpid()
        self._is_first = True
        self._random_state: torch.Tensor | None = None
        # torch.manual_seed does not reach XLA; it takes 63 bits.
        torch_xla.manual_seed(torch.initial_seed() & (2**63 - 1))
        self._unfused = Unfused(optimizer)
        late_state = create_state(optimizer)
        self._moved = Moved(model, optimizer, device=self._device)
        bf16 = config.precision == "bf16"
        self._forward = XlaForward(model, device=self._device, bf16=bf16)
        self._variances = UnbiasedVariances(model)
        self._notes = [late_state] if late_state is not None else []
        if self._forward.is_hugging_face:
            self._notes.append("Hugging Face's checks of the mask's values are left out.")
        self._sync()
        self._counters = XlaCounters()
        self._watch = GraphWatch(self._counters)
        self._limit = XlaCompileLimit(config.timeout_s, counts=self._counters.compilations)

    def __call__(self, batch: Any) -> torch.Tensor:  # noqa: ANN401  whatever the dataset collates to
        """Run one training step on a batch and return its loss, not yet computed.

        Raises:
            CompilerError: XLA cannot run the step.
        """
        if os.getpid() != self._pid:
            raise CompilerError(
                f"A step was called in process {os.getpid()}, forked from {self._pid}, where "
                "XLA runs: a forked process that uses XLA hangs. Train in the process that "
                "made the step; data workers may be forked, and must not touch XLA tensors."
            )
        if self._is_first:
            self._random_state = torch.get_rng_state()
        begin = time.perf_counter()
        with explained(self._device):
            self._counters.begin_step()
            batch = map_tensors(lambda tensor: tensor.to(self._device), batch)
            with self._forward.step(), self._watch if self._is_first else nullcontext():
                loss = self._train_step(self._model, self._optimizer, batch)
            self._sync()
            self._counters.end_step(batch, call_s=time.perf_counter() - begin)
            if self._is_first:
                self._end_first_step()
        return loss

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        # torch_xla.sync(wait=True) returns at once on CPU.
        with explained(self._device):
            self._wait()

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport`` that this backend knows, by name."""
        return {
            **self._counters.facts(),
            **program_facts(),
            "backend": self.backend,
            "device": device_kind(),
            "fused_optimizer": False,
            "graph_breaks": self._watch.graph_breaks(),
            "notes": tuple(self._notes),
        }

    def leave(self) -> None:
        """Bring model and optimizer back to the host, with what they learnt.

        After a first step that failed they are what they were before it.
        """
        self._limit.close()
        if not self._is_first:
            self.wait()
        self._moved.leave()
        self._forward.remove()
        self._variances.remove()
        self._unfused.restore()
        if self._is_first and self._random_state is not None:
            torch.set_rng_state(self._random_state)

    def _end_first_step(self) -> None:
        """Keep what the first step learnt; errors of the device show up here, not later."""
        self._wait()
        self._is_first = False
        self._moved.keep()
