"""The parts that one process of an instance shares: context, records, timer."""

from __future__ import annotations

import atexit
import os
import time
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from smtc_lab.instance.context import InstanceContext
from smtc_lab.instance.resource_config import BASE_FOLDER_VARIABLE
from smtc_lab.instance.variables import ATTEMPT_VARIABLE, BESIDE_VARIABLE
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.runtime.step_timer import StepTimer
from smtc_lab.store.run_folder import COMPILER_FOLDER
from smtc_lab.store.sink import LateSink, open_sink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.compiler.compilation import Compilation
    from smtc_lab.store.tables import Record, RecordSink


class StepsDone(SystemExit):
    """Ends a script with success, because the job's ``max_steps`` is reached."""


class InstanceRuntime:
    """What the session and the hooks of an unmodified script both use; one for a process."""

    def __init__(self) -> None:
        self.context = InstanceContext.from_environment()
        self._process = os.getpid()
        self._writer: RecordSink | None = None
        folder = self.context.run_folder
        is_beside = BESIDE_VARIABLE in os.environ
        if folder is not None and folder.records.is_dir() and not is_beside:
            host, rank = self.context.host, self.context.rank
            is_trainer = self.context.role == "train"
            data_records = folder.records / f"{host}-data0.sqlite"
            self._path = folder.rank_records(host, rank) if is_trainer else data_records
            self._writer = open_sink(self._path)
            atexit.register(self.close)
        self.restored_step: Callable[[], int] = lambda: 0
        """Returns from which step a script goes on that loads its checkpoints by itself."""
        self.attempt = int(os.environ.get(ATTEMPT_VARIABLE, "1"))
        self.timer = StepTimer(self.context, self._writer)
        if self.attempt > 1:
            self.timer.on_ready = self._begin_again
        self.took: Callable[[Any], object] = lambda _: None
        """Called with each batch that is trained on."""
        self.is_timed_by_session = False
        """Whether a session's loop times the steps, so that hooks must not."""
        self.sets_num_workers = False
        """Whether a session chose how many data workers a loader has."""
        self.is_restoring = False
        """Whether state is given back: what optimizers do for it is no step."""
        self.claim: Callable[[], bool] | None = None
        """Tells whether steps of this process count, where its script starts ranks."""
        self.is_over = False
        """Whether the job's last step was taken, so that the script is to end."""
        self.before_close: Callable[[], None] = lambda: None
        """Records what others still keep back; called once."""

    @cached_property
    def compilation(self) -> Compilation | None:
        """The compiler of this process; None: its steps run as they are."""
        config = self.context.compiler
        if config is None:
            return None
        from smtc_lab.compiler.compilation import Compilation  # noqa: PLC0415  the others do without

        compilation = Compilation(
            config,
            folder=self.compiler_folder,
            max_steps=self.context.max_steps,
            rank=self.context.rank,
            world_size=self.context.world_size,
            say=self.event,
            parity_steps=self.context.parity_steps,
        )
        self.timer.on_step = compilation.step_ended
        atexit.register(self.close)
        return compilation

    def go_on_from(self, step: int) -> None:
        """Say that an earlier attempt has taken so many steps; what it did beyond is lost."""
        self.timer.on_ready = None
        # a first attempt may go on with checkpoints of another run
        self.timer.first_step = step
        self.record(AttemptRecord(attempt=self.attempt, time_s=time.time(), first_step=step))

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Take no step of an optimizer for one: torch makes some to give it its state."""
        self.is_restoring = True
        try:
            yield
        finally:
            self.is_restoring = False

    def _begin_again(self) -> None:
        if step := self.restored_step():
            self.event("attempt", f"The script goes on after step {step}, as it loaded.")
            self.go_on_from(step)
        else:
            self.event(
                "warning",
                f"Attempt {self.attempt} begins with the first step again: the script takes "
                "up no state that is known here. Call session.checkpoint(...), or let it load "
                "what it saved.",
            )
            self.go_on_from(0)
        self.context.say_ready()
        if self.timer.is_done:  # it was killed after its last step
            self.end_script()

    def replace_sink(self, made_of: Callable[[RecordSink], RecordSink]) -> None:
        """Let another one keep the records of this process, made of the one that did."""
        if self._writer is not None:
            self._writer = made_of(self._writer)
            self.timer.writer = self._writer

    def let_go(self) -> None:
        """Close the records, which are opened again with the next one: others may be forked."""
        if self._writer is not None:
            self._writer.close()
            self._writer = LateSink(self._path, lambda: self.is_own_process)
            self.timer.writer = self._writer

    def take_over(self) -> None:
        """Be the trainer in place of the process that this one was forked from."""
        self._process = os.getpid()

    @property
    def is_own_process(self) -> bool:
        """Whether this process keeps the records, and not one that was forked from it."""
        return os.getpid() == self._process

    def flush(self) -> None:
        """Return when what was recorded outlives this process."""
        if self._writer is not None and self.is_own_process:
            self._writer.flush()

    @property
    def compiler_folder(self) -> Path | None:
        """Where the compiler's files of this instance go; None: outside a job."""
        base = os.environ.get(BASE_FOLDER_VARIABLE)
        return Path(base, COMPILER_FOLDER) if base else None

    def wait_before_close(self, wait: Callable[[], None]) -> None:
        """Have what others still write and tell awaited before the end of the records."""
        atexit.register(wait)
        before = self.before_close

        def both() -> None:
            wait()
            before()

        self.before_close = both

    def record(self, record: Record) -> None:
        """Keep a record of this process."""
        if self._writer is not None and self.is_own_process:
            self._writer.append(record)

    def event(self, kind: str, message: str) -> None:
        """Keep an event of this process and print it, so that it is in the log as well."""
        message = message.encode("utf-8", errors="replace").decode("utf-8")  # lone surrogates
        print(f"smtc-lab: {message}", flush=True)  # noqa: T201  the instance's log is its stdout
        self.record(
            EventRecord(time_s=time.time(), kind=kind, host=self.context.host, message=message)
        )

    def end_script(self) -> NoReturn:
        """End the script after the job's last step; again, where it goes on all the same."""
        if not self.is_over:
            self.close()
            self.is_over = True
            if self.is_own_process:
                self.context.say_last_step()
        raise StepsDone(0)

    def end(self) -> None:
        """Say that the script has ended, and write what is left. As safe as ``close``."""
        if self.is_own_process:
            self.context.say_done()
        self.close()

    def close(self) -> None:
        """Write what is left. Safe to call twice; does nothing in a forked child."""
        if not self.is_own_process:
            return
        if "compilation" in self.__dict__ and self.compilation is not None:
            self.compilation.close()
        before_close, self.before_close = self.before_close, lambda: None
        try:
            before_close()
        finally:
            if self._writer is not None:
                self._writer.close()


@cache
def instance_runtime() -> InstanceRuntime:
    """Return the runtime of this process."""
    return InstanceRuntime()
