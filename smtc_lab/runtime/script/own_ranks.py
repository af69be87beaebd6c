"""Counts the steps of ranks that the script of a lone trainer starts itself.

``torch.multiprocessing.spawn`` and ``start_processes``, Lightning's and Accelerate's launchers
with them, train in children. The first of these then keeps the trainer's records in its place.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from smtc_lab.instance.variables import (
    BESIDE_VARIABLE,
    DATA_HOSTS_VARIABLE,
    FINGERPRINTS_VARIABLE,
    LONE_TRAINER_VARIABLE,
    READY_VARIABLE,
    RESUME_VARIABLE,
)
from smtc_lab.metrics.records.records import LOADER_KEPT
from smtc_lab.runtime.instance_runtime import instance_runtime

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.runtime.instance_runtime import InstanceRuntime

_SCRIPT = "script"

_NOT_COUNTED = (
    "Steps of this process are not counted: {who} had taken some before, and a trainer's steps "
    "are those of one process."
)

_NOT_FED = (
    "Ranks that the script starts itself prepare their batches themselves. To have {hosts} "
    'make them, let the job start the ranks: distribution={{"data": {num}}}, --data {num} in a '
    "shell."
)


def count_own_ranks(runtime: InstanceRuntime, time_steps: Callable[[Any], None]) -> None:
    """Count the steps of ranks that this process starts from now on.

    Where the job's compiler, a calibration or a proof looks at each step, they are not.

    Args:
        runtime: Of this process.
        time_steps: Begins to time the steps of a process, given its runtime; a function of a
            module, so that it can be sent.
    """
    context, folder = runtime.context, runtime.context.run_folder
    are_left = context.compiler is not None or context.measure is not None
    are_left |= FINGERPRINTS_VARIABLE in os.environ
    if folder is None or context.world_size > 1 or are_left:
        return
    package: Any = sys.modules["torch.multiprocessing"]
    module: Any = sys.modules["torch.multiprocessing.spawn"]
    plain = module.start_processes
    claim = folder.instance(context.host) / "steps-of"
    num_starts = 0

    @wraps(plain)
    def start_processes(
        fn: Callable[..., Any],
        args: Any = (),  # noqa: ANN401  torch's own arguments
        nprocs: int = 1,
        *more: Any,  # noqa: ANN401  as above
        **options: Any,  # noqa: ANN401  as above
    ) -> Any:  # noqa: ANN401  as above
        nonlocal num_starts
        if runtime.is_own_process:
            num_starts += 1
            runtime.claim = Claim(claim, _SCRIPT, runtime)
            if runtime.timer.num_steps:
                runtime.claim()
            runtime.let_go()
            fn = OwnRank(fn, time_steps, claim, f"ranks-{num_starts}", nprocs)
        return plain(fn, args, nprocs, *more, **options)

    package.start_processes = module.start_processes = start_processes


class Claim:
    """Whose steps are the trainer's: of whoever takes the first one, the script or its ranks.

    Args:
        path: A link that says it, made by that one.
        who: Who this process is.
        runtime: Of this process; tells people where its steps are others' already.
    """

    def __init__(self, path: Path, who: str, runtime: InstanceRuntime) -> None:
        self._path, self._who, self._runtime = path, who, runtime
        self._is_ours: bool | None = None
        self.when_ours: Callable[[], object] = lambda: None

    def __call__(self) -> bool:
        """Return whether the steps of this process are the trainer's; it takes one now."""
        if self._is_ours is None:
            owner = self._who
            with suppress(OSError):  # it is there, or the disk is full
                self._path.symlink_to(self._who)
            with suppress(OSError):
                owner = str(self._path.readlink())
            self._is_ours = owner == self._who
            if self._is_ours:
                self.when_ours()
            else:
                who = "the script itself" if owner == _SCRIPT else "ranks that it started"
                self._runtime.event("warning", _NOT_COUNTED.format(who=who))
        return self._is_ours


class OwnRank:
    """A function that ranks run, the first of them as the trainer; sent to processes by pickle.

    Args:
        fn: The script's own.
        time_steps: Begins to time the steps of a process.
        claim: The link of ``Claim``.
        who: Who the ranks are, there.
        num_ranks: How many of them there are.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        time_steps: Callable[[Any], None],
        claim: Path,
        who: str,
        num_ranks: int,
    ) -> None:
        context = instance_runtime().context
        self._fn, self._time_steps = fn, time_steps
        self._claim, self._who, self._num_ranks = claim, who, num_ranks
        self._hosts, self._is_lone = tuple(context.data_servers), context.has_lone_trainer
        self._ready: Any = context.ready_fd
        self._is_sent = False

    def __getstate__(self) -> dict[str, Any]:
        from multiprocessing.reduction import DupFd  # noqa: PLC0415  forked ranks do without

        ready: Any = None if self._ready is None else DupFd(self._ready)
        return {**self.__dict__, "_ready": ready, "_is_sent": True}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._ready is not None:
            self._ready = self._ready.detach()

    def __call__(self, index: int, *args: Any) -> Any:  # noqa: ANN401  the script's own
        """Run it; called once in a process."""
        if self._is_sent:
            self._enter(is_first=index == 0)
        if index:
            return self._fn(index, *args)
        runtime = instance_runtime()
        runtime.take_over()
        runtime.claim = claim = Claim(self._claim, self._who, runtime)
        if self._is_sent:
            if self._hosts:
                claim.when_ours = partial(runtime.event, LOADER_KEPT, self._not_fed)
            self._time_steps(runtime)
        try:
            return self._fn(index, *args)
        finally:
            runtime.close()

    @property
    def _not_fed(self) -> str:
        return _NOT_FED.format(hosts=" and ".join(self._hosts), num=self._num_ranks)

    def _enter(self, *, is_first: bool) -> None:
        """Mend the variables of a process that knows nothing of the one that has sent this."""
        os.environ.pop(READY_VARIABLE, None)
        if not is_first:
            os.environ[BESIDE_VARIABLE] = "1"
            if self._ready is not None:
                os.close(self._ready)
            return
        for name in (DATA_HOSTS_VARIABLE, RESUME_VARIABLE):
            os.environ.pop(name, None)
        if self._is_lone:
            os.environ[LONE_TRAINER_VARIABLE] = str(os.getpid())
        if self._ready is not None:
            os.environ[READY_VARIABLE] = str(self._ready)
