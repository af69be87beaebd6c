"""What a training script asks for: its dataloader, its step, its timed loop, its checkpoint."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import torch

from smtc_lab.compiler.eager import EagerStep
from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.batch_samples import num_samples_of
from smtc_lab.runtime.data_instance import dataloader_class
from smtc_lab.runtime.instance_runtime import instance_runtime
from smtc_lab.runtime.own_metrics.metric_log import log
from smtc_lab.runtime.resuming.resumable import ResumableTraining

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torch.utils.data import DataLoader as TorchDataLoader

    from smtc_lab.compiler.compilation import Compilation
    from smtc_lab.compiler.step import CompiledStep
    from smtc_lab.dataservice.dataloader import DataLoader

T = TypeVar("T")


class Session(ResumableTraining):
    """One process's view of its training job. Outside a job everything runs locally.

    ::

        session = smtc_lab.Session()
        loader = session.dataloader(dataset, batch_size=64, shuffle=True)
        model, optimizer = session.prepare(model, optimizer)  # where trainers share the model
        step = session.compile(train_step, model, optimizer)
        for batch in session.steps(loader):
            loss = step(batch)
    """

    log = staticmethod(log)
    """As ``smtc_lab.log``."""

    def __init__(self) -> None:
        super().__init__(instance_runtime())
        if self._runtime.compilation is not None:  # before anything runs backward
            self._runtime.compilation.prepare()

    @property
    def role(self) -> Literal["train", "data"]:
        """What this instance does."""
        return self._context.role

    @property
    def rank(self) -> int:
        """Rank of this trainer."""
        return self._context.rank

    @property
    def world_size(self) -> int:
        """Trainers of the job."""
        return self._context.world_size

    @property
    def batch_rank(self) -> int:
        """Which of the batches of a step this trainer takes, from 0.

        Stages of a pipeline and parts of layers take the same; elsewhere it is the rank. A
        sampler of your own takes this one and ``num_batch_ranks``.
        """
        return self._batches[0]

    @property
    def num_batch_ranks(self) -> int:
        """Batches of a step: one for each replica, and for each of its shards."""
        return self._batches[1]

    def hyperparameter(self, name: str, default: T) -> T:
        """Return a hyperparameter, as the type of its default.

        Args:
            name: Its name.
            default: Its value where the job does not give one. None: the job's value is taken
                as it is.

        Raises:
            EntryPointError: The job's value is of another type.
        """
        value = json.loads(os.environ.get("SM_HPS", "{}")).get(name, default)
        if default is None:
            return cast("T", value)
        kind = type(default)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or isinstance(value, bool) != isinstance(default, bool):
            raise EntryPointError(
                f"Hyperparameter {name}={value!r} is of type {type(value).__name__}, but the "
                f"script needs {kind.__name__}. Correct the job's hyperparameters."
            )
        return value

    def channel(self, name: str) -> Path:
        """Return the folder of a channel.

        Raises:
            EntryPointError: The job has no such channel on this instance.
        """
        path = os.environ.get(f"SM_CHANNEL_{name.upper()}")
        if path is None:
            raise EntryPointError(
                f"The job has no channel {name!r} on this instance. Add it to the job's "
                "channels, and to this group if channels name groups."
            )
        return Path(path)

    def dataloader(self, dataset: Any, **options: Any) -> DataLoader[Any]:  # noqa: ANN401  as torch's own
        """Return a dataloader that this job's data instances feed.

        Args:
            dataset: As for ``torch.utils.data.DataLoader``.
            **options: As for ``torch.utils.data.DataLoader``. Without ``num_workers`` the
                trainer gets one data worker for each core of its quota.

        Where there are several trainers, each gets its part of every batch of ``batch_size``
        times their number, and equally many batches; a sampler of the script's own is left as
        it is.
        """
        options = self._rank_options(dataset, options)
        is_chosen_here = "num_workers" not in options
        self._runtime.sets_num_workers |= is_chosen_here
        options.setdefault("num_workers", self._context.num_workers or 0)
        options.setdefault("persistent_workers", options["num_workers"] > 0)
        loader = dataloader_class(self._runtime)(dataset, **options)
        if is_chosen_here and self._context.num_loader_workers is None:
            loader.are_vcpus = False
        return loader

    def compile(
        self,
        train_step: Callable[[torch.nn.Module, torch.optim.Optimizer, Any], torch.Tensor],
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
    ) -> CompiledStep:
        """Return the training step as the job's compiler settings want it.

        Args:
            train_step: Called as ``train_step(model, optimizer, batch)``: forward, loss,
                backward and optimizer step; returns the loss.
            model: The model that it trains.
            optimizer: The optimizer that steps.

        Raises:
            CompilerError: The settings' backend cannot be used here, and they do not allow to
                go on eagerly.
        """
        self._trainers.check_compiled(model)
        if self._runtime.compilation is None:
            return EagerStep(train_step, model, optimizer)
        return self._runtime.compilation.compile(train_step, model, optimizer)

    def steps(self, loader: TorchDataLoader[Any], *, epochs: int | None = 1) -> Iterator[Any]:
        """Yield batches, and time the step that the loop body makes of each.

        Ends early when the job's ``max_steps`` is reached.

        Args:
            loader: Where the batches come from.
            epochs: Passes over the loader; None: until ``max_steps``.

        Raises:
            EntryPointError: The loader has no batch at all.
        """
        runtime, timer = self._runtime, self._runtime.timer
        if self._runtime.timer.is_done:
            return
        runtime.is_timed_by_session = True
        compilation = runtime.compilation
        if compilation is not None:
            _expect_steps(compilation, loader, epochs)
        timer.synchronized = compilation is not None or not torch.cuda.is_initialized()  # type: ignore[no-untyped-call]  # torch's own
        try:
            for epoch in count() if epochs is None else range(epochs):
                had_batches = False
                self._trainers.check_counts(loader)
                for batch in self._timed_batches(self._next_pass(loader)):
                    had_batches = True
                    yield batch
                    if compilation is not None:
                        compilation.wait()
                    timer.end()
                    self._step_ended()
                    if timer.is_done:
                        return
                if not (had_batches or self._was_begun_before):
                    raise EntryPointError(
                        f"The dataloader had no batch in epoch {epoch}: its dataset is empty, "
                        "or smaller than one batch with drop_last. Lower the batch size."
                    )
                timer.drop()
                self._pass_ended()
        finally:
            runtime.is_timed_by_session = False

    def _timed_batches(self, loader: Iterable[Any]) -> Iterator[Any]:
        timer = self._runtime.timer
        timer.ask()
        for batch in loader:
            num_samples = num_samples_of(batch)
            timer.got(num_samples)
            self._runtime.took(batch)
            yield batch
            self._trainers.stepped(num_samples)
            timer.ask()

    @property
    def model_dir(self) -> Path:
        """Where the trained model goes."""
        return Path(os.environ.get("SM_MODEL_DIR", "."))


def _expect_steps(
    compilation: Compilation, loader: TorchDataLoader[Any], epochs: int | None
) -> None:
    """Tell the compiler how many steps there will be, where a loop over epochs tells.

    One epoch tells nothing: scripts call ``steps`` once for each.
    """
    if compilation.num_steps is None and epochs is not None and epochs > 1:
        with suppress(TypeError):  # a stream has no length
            compilation.num_steps = epochs * len(loader)
