"""The compiler in one trainer process: made ready, put to work, and reported on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.compiler.backends import step_maker
from smtc_lab.compiler.choosing.auto import auto_step
from smtc_lab.compiler.choosing.guarded import GuardedStep
from smtc_lab.compiler.inductor.cache import cache_note
from smtc_lab.compiler.inductor.debug_folder import DebugFolder
from smtc_lab.compiler.inductor.facts import InductorFacts
from smtc_lab.compiler.observing.host_syncs import FIRST_STEP, HostSyncs
from smtc_lab.compiler.observing.parity_recorder import ParityRecorder, make_comparable
from smtc_lab.compiler.observing.peak_memory import peak_memory_bytes
from smtc_lab.compiler.preparation import Preparation, prepare_process
from smtc_lab.errors import CompilerError
from smtc_lab.metrics.records.compiler_report import CompilerReport
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import torch

    from smtc_lab.compiler.choosing.auto import AutoStep
    from smtc_lab.compiler.step import CompiledStep, Followed, Script, TrainStep
    from smtc_lab.spec.compiler import TrainingCompilerConfig

_DEBUG_FOLDER = "output/data/compiler"

_DEBUG_IS_SLOW = (
    "Debug mode writes the compiler's intermediate files, and takes no compiled code from "
    "caches: the first steps take longer than without it. Do not compare times of such a run."
)

_REPORT_AFTER = (10, 100, 1000)
"""Steps after which a report is written, so that a run that is killed has one."""


class Compilation:
    """What a trainer process does with its compiler settings; one for a process."""

    def __init__(  # noqa: PLR0913  what the process knows of itself, by name
        self,
        config: TrainingCompilerConfig,
        *,
        folder: Path | None,
        max_steps: int | None,
        rank: int,
        world_size: int,
        say: Callable[[str, str], None],
        parity_steps: int | None = None,
    ) -> None:
        """Keep what is known; nothing is imported or changed yet.

        Args:
            config: Settings of the job.
            folder: Where the report and the debug files go; None: nowhere.
            max_steps: Steps of the job; None: not known.
            rank: Rank of this trainer.
            world_size: Trainers of the job.
            say: Tells people; called with a kind of event and a sentence.
            parity_steps: Steps of a parity launch; None: it is none.
        """
        self.config = config
        self.num_steps = max_steps
        """Steps that the job will take; None: not known."""

        self.on_step: Callable[[float], None] | None = None
        """Called with what each step took, in seconds; None: nobody listens."""

        self._folder = folder
        self._rank = rank
        self._world_size = world_size
        self._parity_steps = parity_steps
        self._parity: ParityRecorder | None = None
        self._say = say
        self._step = 0
        self._is_closed = False
        self._script: Script | None = None
        self._debug_folder: DebugFolder | None = None
        if config.debug and folder is not None:
            self._debug_folder = DebugFolder(folder, rank=rank)
        self._preparation: Preparation | None = None
        self._inductor_facts: InductorFacts | None = None
        self._host_syncs: HostSyncs | None = None
        self._followed: Followed | None = None

    def prepare(self) -> None:
        """Set this process up; right after ``import torch``, before anything runs backward.

        Raises:
            CompilerError: The backend cannot be used here, and may not be replaced.
        """
        if self._preparation is not None:
            return
        if self.config.backend != "eager":
            self._say("compiler", "Found configuration for Training Compiler")
            self._say("compiler", "Configuring SM Training Compiler...")
            if self.config.debug:
                self._say("compiler", "Training Compiler set to debug mode")
                self._say("warning", _DEBUG_IS_SLOW)
        self._preparation = prepare_process(
            self.config,
            folder=self._folder,
            world_size=self._world_size,
            max_steps=self.num_steps,
        )
        if self._parity_steps is not None and self._folder is not None:
            make_comparable(backend=self.config.backend)
            self._parity = ParityRecorder(
                folder=self._folder, rank=self._rank, num_steps=self._parity_steps
            )
        if self.config.backend in {"auto", "inductor"}:
            self._inductor_facts = InductorFacts(current_step=lambda: self._step)
            if self._debug_folder is not None:
                self._debug_files(self._debug_folder.prepare)

    @property
    def not_xla(self) -> str | None:
        """Why XLA is not used here, once the process is prepared; None: no reason is known."""
        return None if self._preparation is None else self._preparation.not_xla

    def compile(
        self, train_step: TrainStep, model: torch.nn.Module, optimizer: torch.optim.Optimizer
    ) -> CompiledStep:
        """Return the training step as the settings want it.

        Raises:
            CompilerError: The backend cannot be used here, and may not be replaced.
        """
        self.prepare()
        if self._script is not None:
            self._script.stop()
            self._script = None
        self.watch(model)
        make = step_maker(train_step, model, optimizer, not_xla=self.not_xla)
        step: AutoStep | GuardedStep
        if self.config.backend == "auto":
            step = auto_step(
                make,
                model,
                config=self.config,
                num_steps=lambda: self.num_steps,
                not_xla=self.not_xla,
                say=self._say,
            )
        else:
            step = GuardedStep(make, config=self.config, say=self._say)
        self.follow(step)
        return step

    def adopt(self, script: Script) -> None:
        """Report on an unmodified script, until it makes a step of its own."""
        self._script = script
        self.follow(script)

    def follow(self, step: Followed) -> None:
        """Report on a step, or on whatever else compiles in this process, from now on."""
        self._followed = step

    def watch(
        self,
        model: torch.nn.Module,
        gather: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        """In a parity launch: record the weights of this model, if it is the first one.

        Args:
            model: The model.
            gather: How they are gathered, see ``ParityRecorder.watch``.
        """
        if self._parity is not None:
            self._parity.watch(model, gather)

    def take_loss(self, loss: torch.Tensor) -> None:
        """In a parity launch: record this as the loss of the step."""
        if self._parity is not None:
            self._parity.take_loss(loss)

    def wait(self) -> None:
        """Return when the device has computed every step so far."""
        if self._followed is not None:
            self._followed.wait()

    def step_ended(self, step: int, busy_s: float) -> None:
        """Say that a step has ended; costs next to nothing.

        Args:
            step: Its number, from 0.
            busy_s: What it took beyond the wait for its data, in seconds.
        """
        self._step = step + 1
        if self._parity is not None:
            self._parity.step_ended()
        if self.on_step is not None:
            self.on_step(busy_s)
        if self._host_syncs is None:
            if self._followed is not None and self._followed.is_settled:
                self._host_syncs = HostSyncs(first_step=max(FIRST_STEP, step + 2))
        elif not self._host_syncs.is_done:
            self._host_syncs.step_ended(step)
        if step in _REPORT_AFTER:
            if self._debug_folder is not None:
                self._debug_files(self._debug_folder.tidy)
            self._write()

    def report(self) -> CompilerReport | None:
        """Return everything that is known of the compiler; None: nothing was compiled yet."""
        if self._followed is None or self._preparation is None:
            return None
        facts = self._followed.facts()
        notes = [*self._preparation.notes, *facts.pop("notes", ())]
        if self._inductor_facts is not None and facts["backend"] == "inductor":
            facts |= {**self._inductor_facts.fields(), "cache_note": cache_note()}
            notes += facts.pop("notes", ())
        if self._host_syncs is not None:
            facts |= self._host_syncs.fields()
        return CompilerReport(
            config=self.config,
            debug_folder=None if self._debug_folder is None else _DEBUG_FOLDER,
            keeps_memory=self._preparation.keeps_memory,
            notes=tuple(notes),
            peak_memory_bytes=peak_memory_bytes(),
            **facts,
        )

    def close(self) -> None:
        """Write the report. Safe to call twice."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._host_syncs is not None:
            self._host_syncs.close()
        if self._parity is not None:
            self._parity.close()
        if self._inductor_facts is not None:
            self._inductor_facts.close()
        if self._debug_folder is not None:
            self._debug_files(self._debug_folder.close)
        if self._followed is not None and not self._followed.is_settled:
            self._say("compiler", f"auto: {self._followed.facts()['chosen_because']}")
        self._write()

    def _debug_files(self, action: Callable[[], None]) -> None:
        """Do something to the debug folder; a full disk must not end the training."""
        try:
            action()
        except OSError as error:
            self._say("warning", f"The compiler's files cannot be kept: {error.strerror}.")
        except CompilerError as error:
            self._say("warning", f"The compiler's files cannot be kept: {error}")

    def _write(self) -> None:
        report = self.report()
        if report is None or self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            replace_file(
                self._folder / f"report-rank{self._rank}.json", report.model_dump_json(indent=1)
            )
        except OSError as error:  # a full disk must not end the training
            self._say("warning", f"The compiler's report cannot be kept: {error.strerror}.")
