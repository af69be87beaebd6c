"""Trainings that are killed at random moments, proved bit for bit beside unbroken ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.spot.job import job_of
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.emulation import Emulation
from smtc_lab.study.resuming.prove import prove_resume

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_SERVED = "trainers=local:1:train,data_group=local:{}:data"
"""Both groups are this machine, so their roles are said."""

_COMPILED: dict[str, Any] = {
    "hyperparameters": {"compiled": 1},
    "compiler_config": TrainingCompilerConfig(backend="inductor"),
}
KINDS: dict[str, dict[str, Any]] = {
    "alone": {},
    "2 data workers": {"hyperparameters": {"workers": 2}},
    "a data server": {"cluster": _SERVED.format(1)},
    "a stream": {"hyperparameters": {"loader": "stream"}},
    "a stream, 2 data workers": {"hyperparameters": {"loader": "stream", "workers": 2}},
    "a stream, a data server": {
        "hyperparameters": {"loader": "stream"},
        "cluster": _SERVED.format(1),
    },
    "torch's own loader": {"hyperparameters": {"loader": "torch"}},
    "torch's own loader, 2 data workers": {
        "hyperparameters": {"loader": "torch", "workers": 2}
    },
    "2 ranks": {"distribution": {"data": 2}},
    "2 ranks, 2 data servers": {
        "distribution": {"data": 2},
        "cluster": _SERVED.format(2),
    },
    "compiled": _COMPILED,
    "2 ranks, compiled": {"distribution": {"data": 2}, **_COMPILED},
}
"""Jobs by what is particular of them."""

_STEP_S = 0.05
_EVERY = 3
_STEPS_OF_A_KILL = 4


def kill_rows(
    folder: Path, *, kills: int, each: int = 10, kinds: Sequence[str] = tuple(KINDS)
) -> Iterator[dict[str, Any]]:
    """Yield what became of trainings that were killed again and again.

    Args:
        folder: Where runs are kept.
        kills: Of each kind.
        each: Kills of one training.
        kinds: Which.
    """
    for kind in kinds:
        left, number = kills, 0
        while left > 0:
            values = dict(KINDS[kind])
            told = {"save_every": _EVERY, **values.pop("hyperparameters", {})}
            count = min(each, left)
            job = job_of(
                folder / f"{kind}-{number}",
                values.pop("cluster", "trainers=local:1"),
                hyperparameters=told,
                emulation=Emulation(device_step_time_s=_STEP_S),
                max_steps=_STEPS_OF_A_KILL * count + 2 * _EVERY,
                **values,
            )
            proof = prove_resume(
                job, interruptions=count, seed=number, root=folder / f"{kind}-{number}"
            )
            struck = len(proof.interrupted_at)
            found = proof.first_difference
            yield {
                "what": "kills",
                "kind": kind,
                "number": number,
                "trainers": proof.ranks,
                "kills": struck,
                "equal": proof.equal,
                "difference": "" if found is None else found.sentence,
                "interrupted_at": list(proof.interrupted_at),
                "went_on_from": list(proof.went_on_from),
            }
            number += 1
            left -= max(1, struck)
