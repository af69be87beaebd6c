"""From which step a script goes on that loads its checkpoints by itself."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import Optimizer

from smtc_lab.store.sink import LINES_VARIABLE

if TYPE_CHECKING:
    from smtc_lab.instance.context import InstanceContext

_NAMES = ("global_step", "step", "steps", "iteration", "iter_num")
"""What a step is called in a checkpoint: Lightning's, and those of many a loop."""

_TRAINER_STATE = "trainer_state.json"
"""What Hugging Face's ``Trainer`` writes beside the files of a checkpoint."""


class Restored:
    """Watches what a script loads before its first step.

    The step of an optimizer that counts (Adam and its kind) is the surest. Else that of a file
    that was loaded, or of ``trainer_state.json`` beside it, is taken; and else how many steps
    were recorded when the file was written.
    """

    def __init__(self, context: InstanceContext) -> None:
        self._context = context
        self._of_optimizer: int | None = None
        self._of_file: int | None = None
        self._file: Path | None = None
        load_state, load = Optimizer.load_state_dict, torch.load

        def load_state_dict(optimizer: Optimizer, state_dict: Any) -> None:  # noqa: ANN401  torch's
            load_state(optimizer, state_dict)
            steps = [_whole(one.get("step")) for one in optimizer.state.values()]
            known = [step for step in steps if step is not None]
            self._of_optimizer = max([*known, self._of_optimizer or 0]) or self._of_optimizer

        def loaded(f: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  torch's
            found = load(f, *args, **kwargs)
            if isinstance(found, Mapping):
                steps = [_whole(found.get(name)) for name in _NAMES]
                self._of_file = next(filter(None, steps), self._of_file)
            if isinstance(f, str | os.PathLike):
                self._file = Path(f)
            return found

        Optimizer.load_state_dict = load_state_dict  # type: ignore[assignment]  # the same
        torch.load = loaded

    @property
    def step(self) -> int:
        """Steps that were taken before what was loaded; 0: nothing that tells was."""
        if found := self._of_optimizer or self._of_file:
            return found
        return 0 if self._file is None else self._beside(self._file) or self._then(self._file)

    def _beside(self, file: Path) -> int | None:
        try:
            told = json.loads(file.with_name(_TRAINER_STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return _whole(told.get("global_step")) if isinstance(told, dict) else None

    def _then(self, file: Path) -> int:
        """Return how many steps had ended when a file was written; 0: nobody knows.

        Records that were lost with the process may lie before that moment where none lies
        behind it; and a file that was fetched from elsewhere has a later one.
        """
        folder = self._context.run_folder
        try:
            written_s = file.stat().st_mtime
        except OSError:
            return 0
        if folder is None or os.environ.get(LINES_VARIABLE):
            return 0
        from smtc_lab.metrics.records.records import StepRecord  # noqa: PLC0415  images lack what it needs
        from smtc_lab.store.reader import read_records  # noqa: PLC0415  as above

        path = folder.rank_records(self._context.host, self._context.rank)
        steps, _ = read_records(path, StepRecord)
        if not any(one.end_time_s > written_s for one in steps):
            return 0
        before = [one.step + 1 for one in steps if one.end_time_s <= written_s]
        return before[-1] if before else 0


def _whole(value: object) -> int | None:
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        value = value.item()
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and value == int(value) else None  # type: ignore[call-overload]
