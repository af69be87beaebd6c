"""The launches of a calibration, in their order, and what becomes of those that fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import cycle, islice, zip_longest
from typing import TYPE_CHECKING

from smtc_lab.errors import PlannerError
from smtc_lab.planner.calibration.trial import DATA, TRAINER, CalibrationLaunch

if TYPE_CHECKING:
    from smtc_lab.planner.calibration.trial import Seen, Trials

_TRAINER_SHARE, _DATA_SHARE = 0.4, 0.48
"""Parts of this machine that stand for the trainer and for the data instance of a whole run;
the rest is for the system, as in an emulation."""

_SMALL_QUOTA = 0.5
"""Cores of an instance that is held back for much of the time, which costs it CPU time."""

_LEAST_QUOTA = 0.1
"""Cores below which a data instance mostly waits for its next slice."""

_BUSY = 0.9

BUSY = "The machine was busy with other work"
"""How the sentence begins that the launches of a calibration were held up."""

REPEATS = 4
"""Launches that are made again, to see how far two of one set-up lie apart. Simulated, 80 %
intervals hold 77 to 88 % of next launches that differ by 2 to 11 %; with two repeats 75 to
93 %, with one 74 to 97 %."""


@dataclass(kw_only=True)
class Findings:
    """What all launches of a calibration showed."""

    resident: list[Seen] = field(default_factory=list)
    """Steps with a resident batch; the first one has the script's own batch size."""

    in_process: list[Seen] = field(default_factory=list)
    """The loader alone, with data workers of the trainer."""

    service: list[Seen] = field(default_factory=list)
    """The loader alone, with data workers of a data instance."""

    runs: list[Seen] = field(default_factory=list)
    """Whole runs."""

    repeats: list[Seen] = field(default_factory=list)
    """Launches of the loader alone that others had been before."""

    problems: list[str] = field(default_factory=list)
    """What could not be measured, as sentences."""

    def launches_of(self, seen: Seen) -> list[Seen]:
        """Return all launches of a set-up: the first one, and those that repeated it."""
        return [seen, *(each for each in self.repeats if each.trial == seen.trial)]

    @property
    def all_seen(self) -> list[Seen]:
        """Every launch that showed something."""
        return [*self.resident, *self.in_process, *self.service, *self.runs, *self.repeats]


def worker_counts(cores: int) -> list[int]:
    """Return 1, half and all cores, without doubles."""
    return sorted({1, max(1, cores // 2), cores})


def num_launches(cores: int, *, is_emulated: bool) -> int:
    """Return how many launches a calibration has."""
    loaders, runs = _loaders(cores, is_emulated), _own_runs(cores, is_emulated)
    return 2 + len(loaders) + len(runs) + 1 + REPEATS


def run_all(trials: Trials, *, cores: int, is_emulated: bool) -> Findings:
    """Launch everything.

    Args:
        trials: What launches.
        cores: Whole cores of this machine.
        is_emulated: Whether the device is emulated. Then the launches find what instances of
            an emulation find: cores that are kept awake, precedence over other work, a quota.

    Raises:
        PlannerError: The script makes no steps, or fewer than two measurements of its data
            path can be used.
    """
    found = Findings()
    # With a second core, threads of the step would wait for each other busily. Few trainers of
    # an emulation have one.
    quotas = {TRAINER: 1.0} if is_emulated else {}
    first = trials(CalibrationLaunch(what="resident", quotas=quotas))
    found.resident.append(first)
    size = round(first.notes.get("loader_batch_size", first.batch_size))
    other_size = max(1, size // 2) if size > 1 else 2
    other = CalibrationLaunch(what="resident", batch_size=other_size, quotas=quotas)
    _try(trials, other, found.resident, found.problems)
    if len(found.resident) == 2 and found.resident[1].batch_size == first.batch_size:
        found.resident.pop()
        found.problems.append(
            f"The script takes {first.batch_size} samples a step whatever its dataloader's "
            "batch_size is, so only this batch size was measured."
        )
    for trial in _loaders(cores, is_emulated):
        into = found.service if trial.num_data_workers else found.in_process
        _try(trials, trial, into, found.problems)
    for trial in (*_own_runs(cores, is_emulated), _fed_run(cores, found)):
        _try(trials, trial, found.runs, found.problems)
    for trial in _repeated(found, cores):
        _try(trials, trial, found.repeats, found.problems)
    _judge(found)
    return found


def _loaders(cores: int, is_emulated: bool) -> list[CalibrationLaunch]:  # noqa: FBT001  private
    """Return the launches of the loader alone; those of an emulation have half a core, too."""
    trials = []
    for count in worker_counts(cores):
        quotas = _quotas(cores, is_emulated)
        trials += [
            CalibrationLaunch(what="loader", num_loader_workers=count, quotas=quotas),
            CalibrationLaunch(what="loader", num_data_workers=count, quotas=quotas),
        ]
    if is_emulated:
        small = {TRAINER: _SMALL_QUOTA}
        trials.append(CalibrationLaunch(what="loader", num_loader_workers=1, quotas=small))
        small = {TRAINER: float(cores), DATA: _SMALL_QUOTA}
        trials.append(CalibrationLaunch(what="loader", num_data_workers=1, quotas=small))
    return trials


def _repeated(found: Findings, cores: int) -> list[CalibrationLaunch]:
    """Return launches of the loader alone to be made again, last, when time has passed.

    CPUs bound them, whatever the device is. Those with one data worker and with all cores are
    what a prediction rests on, so that their means are worth the time, too.
    """
    trials = [
        seen.trial
        for pair in zip_longest(found.in_process, found.service)
        for seen in pair
        if seen is not None and _has_all_cores(seen.trial, cores)
    ]
    return list(islice(cycle(trials), REPEATS))


def _has_all_cores(trial: CalibrationLaunch, cores: int) -> bool:
    count = trial.num_data_workers or trial.num_loader_workers
    is_held = any(quota < cores for quota in trial.quotas.values())
    return count in {1, cores} and not is_held


def _own_runs(cores: int, is_emulated: bool) -> list[CalibrationLaunch]:  # noqa: FBT001  private
    """Return whole runs with data workers of the trainer, at up to three counts."""
    quotas = _quotas(cores, is_emulated)
    return [
        CalibrationLaunch(what="run", num_loader_workers=count, quotas=quotas)
        for count in worker_counts(cores)
    ]


def _fed_run(cores: int, found: Findings) -> CalibrationLaunch:
    """Return a whole run with a data instance, which has its own cores as on two machines.

    It has as many as keep up with the device, where there are as many: how well stages overlap
    shows where two of them take equally long.
    """
    quota = cores * _DATA_SHARE
    if found.service and (cpu := found.service[0].cpu_s_per_step(DATA)) is not None:
        quota = min(quota, max(_LEAST_QUOTA, cpu.mean / found.resident[0].step().mean))
    quotas = {TRAINER: cores * _TRAINER_SHARE, DATA: quota}
    return CalibrationLaunch(what="run", num_data_workers=max(1, round(quota)), quotas=quotas)


def _quotas(cores: int, is_emulated: bool) -> dict[str, float]:  # noqa: FBT001  private
    """Return quotas of all cores for each host, or none at all."""
    return {TRAINER: float(cores), DATA: float(cores)} if is_emulated else {}


def _try(
    trials: Trials, trial: CalibrationLaunch, into: list[Seen], problems: list[str]
) -> None:
    try:
        into.append(trials(trial))
    except PlannerError as error:
        problems.append(f"Not measured: {trial.label}. {error}")


def _judge(found: Findings) -> None:
    """Refuse what is too little; tell when the machine was busy.

    Raises:
        PlannerError: Fewer than two measurements of the data path.
    """
    usable = len(found.in_process) + len(found.service)
    if usable < 2:
        raise PlannerError(
            f"Only {usable} measurements of the data path can be used, but a calibration needs "
            f"at least 2. {' '.join(found.problems)} Mend that, and calibrate again."
        )
    delivered = [seen.delivered_fraction() for seen in found.resident + found.in_process[:1]]
    least = min((one for one in delivered if one is not None), default=1.0)
    if least < _BUSY:
        found.problems.append(
            f"{BUSY}: the script's processes got {least:.0%} of "
            "the CPU time that they asked for. Calibrate again on an idle machine."
        )
