"""Sets a trainer process up for its compiler, before it computes anything."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.compiler.backends import why_not_xla
from smtc_lab.compiler.host_memory import keep_memory
from smtc_lab.compiler.inductor.cache import use_cache
from smtc_lab.compiler.observing.peak_memory import reset_peak_memory
from smtc_lab.compiler.precision import matmul_error, set_matmul_precision
from smtc_lab.compiler.torch_names import home_of, optional
from smtc_lab.errors import CompilerError
from smtc_lab.machine.torch_names import untested

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.spec.compiler import TrainingCompilerConfig

_THREADS = "torch._inductor.config:cpp.threads"


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """What the set-up of a process brought."""

    keeps_memory: bool
    """Whether freed memory is kept."""

    not_xla: str | None
    """Why XLA cannot be used here, or ``auto`` does not try it; None: no reason is known."""

    notes: tuple[str, ...]
    """Sentences for the report."""


def prepare_process(
    config: TrainingCompilerConfig,
    *,
    folder: Path | None,
    world_size: int,
    max_steps: int | None,
) -> Preparation:
    """Set this process up; right after ``import torch``, before anything runs backward.

    Args:
        config: Settings of the job.
        folder: Where debug files go; None: nowhere.
        world_size: Trainers of the job.
        max_steps: Steps of the job; None: not known.

    Raises:
        CompilerError: The backend cannot be used here, and may not be replaced.
    """
    notes = [note for note in (untested(),) if note is not None]
    keeping_problem = keep_memory() if config.keep_memory else None
    if keeping_problem is not None:
        notes.append(keeping_problem)
    if config.backend != "xla":
        os.environ.setdefault("USE_TORCH_XLA", "0")  # else transformers computes on XLA
    if config.backend in {"auto", "inductor"}:
        use_cache(enabled=config.cache)
        _look_code_up_by_threads()
    not_xla = _prepare_xla(config, folder, world_size=world_size, max_steps=max_steps)
    set_matmul_precision(config.precision)
    if config.precision in {"high", "medium"}:
        error = matmul_error(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
        notes.append(
            f"Precision {config.precision!r}: matrix products are off by {error:.1g} here, "
            "measured against float64."
        )
    reset_peak_memory()
    return Preparation(
        keeps_memory=config.keep_memory and keeping_problem is None,
        not_xla=not_xla,
        notes=tuple(notes),
    )


def _look_code_up_by_threads() -> None:
    """Make the number of threads part of the key by which inductor finds code in its cache.

    It writes the number into the code, and leaves it out of the key: code that was made for two
    threads then runs on one, and was seen to take ten times as long.
    """
    callbacks = optional("torch._dynamo.callback:callback_handler")
    if callbacks is None:
        return  # so nothing is compiled, as the model's compilation tells
    if _compilation_begins not in callbacks.start_callbacks:
        callbacks.register_start_callback(_compilation_begins)


def _compilation_begins(_: object) -> None:
    if optional(_THREADS) is not None:
        home_of(_THREADS).cpp.threads = torch.get_num_threads()


def _prepare_xla(
    config: TrainingCompilerConfig,
    folder: Path | None,
    *,
    world_size: int,
    max_steps: int | None,
) -> str | None:
    """Import torch_xla where it may be needed; return why it is not used."""
    if config.backend not in {"auto", "xla"}:
        return None
    if config.backend == "auto":
        reason = why_not_xla(world_size=world_size, max_steps=max_steps)
        if reason is not None:
            return reason
    from smtc_lab.compiler.xla.setup import (  # noqa: PLC0415  only where XLA is used
        device_kind,
        import_xla,
        prepare_xla,
        refuse_several_trainers,
    )

    dumps = folder / "xla" if config.debug and folder is not None else None
    try:
        refuse_several_trainers(world_size)
        import_xla(dump_folder=dumps)
        if config.backend == "xla" or device_kind() != "xla:CPU":
            prepare_xla()  # else a copy of this process tries it, which must be the first
    except CompilerError as error:
        if config.backend == "auto":
            return f"not tried: {error}"
        if config.fallback == "error":
            raise
        return str(error)
    _save_from_host()
    return None


def _save_from_host() -> None:
    """Make ``torch.save`` write tensors of XLA so that they load without torch_xla."""
    from smtc_lab.compiler.xla.move import host_copy  # noqa: PLC0415  only where XLA is used

    plain = torch.save

    @functools.wraps(plain)
    def save(obj: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  stands in for torch's own
        plain(host_copy(obj), *args, **kwargs)

    torch.save = save
