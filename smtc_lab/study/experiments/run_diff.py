"""In what runs differ: job, code, packages, machine, prices, what they logged."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.run_follower import read_plan
from smtc_lab.launchers.kept_source import script_path
from smtc_lab.launchers.run import Run
from smtc_lab.metrics.result import Result
from smtc_lab.neutral_text import neutral
from smtc_lab.store.environment_file import read_environment
from smtc_lab.store.identity.source import read_source, source_contents
from smtc_lab.store.reader import read_job
from smtc_lab.store.run_folder import RunFolder, find_run
from smtc_lab.store.steps.logged import read_logged
from smtc_lab.study.experiments.options import options_of
from smtc_lab.text_table import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from _typeshed import StrPath

    from smtc_lab.spec.emulation import Emulation


Told = dict[str, dict[str, str] | None]
"""What a run wrote down, by section and name; None: nothing of that section."""

_MOST_LINES = 400
_LONGEST = 200
_SHOWN = 60
_ABSENT, _UNKNOWN = "—", "?"
_ARGUMENTS = ("arguments", "other arguments")
_NOT_OF_A_JOB = frozenset({"job_name", "schema_version"})


class Difference(Result):
    """One thing that is not the same."""

    section: str
    """``job``, ``code``, ``packages``, ``machine``, ``prices`` or ``metrics``."""

    name: str
    """What: ``hyperparameters.lr``, ``model.py``, ``torch``, …"""

    values: tuple[str, ...]
    """What each run has; ``—``: nothing, ``?``: not written down."""

    @property
    def first(self) -> str:
        """What the first run has."""
        return self.values[0]

    @property
    def second(self) -> str:
        """What the second one has."""
        return self.values[1]


class RunDiff(Result):
    """In what two runs differ."""

    names: tuple[str, ...]
    """Their names."""

    differences: tuple[Difference, ...]
    """All that is known to differ; what one of them did not write down is left out."""

    unknown: tuple[str, ...] = ()
    """Sections of which one of them wrote nothing down."""

    code: str = ""
    """Their code as a unified diff, cut to 400 lines; empty: it is the same, or not known."""

    def __str__(self) -> str:
        if not self.differences:
            told = f"{self.names[0]} and {self.names[1]} differ in nothing that is known."
        else:
            rows = [
                tuple(text[:_SHOWN] for text in (one.section, one.name, *one.values))
                for one in self.differences
            ]
            told = "\n".join(aligned([("", "", *self.names), *rows]))
        if self.unknown:
            told += f"\n\nNot written down of one of them: {', '.join(self.unknown)}."
        return f"{told}\n\n{self.code}" if self.code else told


def diff(
    first: Run | StrPath, second: Run | StrPath, *, root: StrPath | None = None
) -> RunDiff:
    """Return in what two runs differ.

    ::

        print(lab.diff("digits-1", "digits-2"))

    Args:
        first: A run, or its name or folder.
        second: Another one.
        root: Folder of runs for names; None: the default one.

    Raises:
        StoreError: There is no such run, or its job cannot be read.
    """
    folders = [folder_of(one, root) for one in (first, second)]
    differences, unknown = differences_of(list(map(told_of, folders)))
    names = (folders[0].job_name, folders[1].job_name)
    return RunDiff(
        names=names,
        differences=differences,
        unknown=unknown,
        code=_code_diff(folders[0], folders[1], names),
    )


def told_of(folder: RunFolder | None, *, metrics: bool = True) -> Told:
    """Return what a run wrote down, by section and name; None: nothing.

    Args:
        folder: The run; None: nothing of it can be read.
        metrics: Whether the newest value of each metric is among it.

    Raises:
        StoreError: Its job cannot be read.
    """
    return {
        section: None if folder is None else read(folder)
        for section, read in _SECTIONS.items()
        if metrics or section != "metrics"
    }


def differences_of(told: Sequence[Told]) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    """Return what is not the same in runs, and the sections that one of them did not write.

    Runs that wrote nothing down of a section do not make a difference in it.

    Args:
        told: What each run wrote down, at least one.
    """
    differences: list[Difference] = []
    unknown = []
    for section in told[0]:
        parts = [one[section] for one in told]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            unknown.append(section)
        differences += [
            Difference(
                section=section,
                name=name,
                values=tuple(
                    _UNKNOWN if part is None else part.get(name, _ABSENT) for part in parts
                ),
            )
            for name in dict.fromkeys(name for part in known for name in part)
            if _differ(name, {part.get(name, _ABSENT) for part in known})
        ]
    return tuple(differences), tuple(unknown)


def _differ(name: str, values: set[str]) -> bool:
    is_name = name == "entry_point" and any("/" not in value for value in values)
    return len({Path(value).name if is_name else value for value in values}) > 1


def folder_of(run: Run | StrPath, root: StrPath | None) -> RunFolder:
    """Return the folder of a run, of its name, or of a path to it.

    Raises:
        StoreError: There is no such run.
    """
    if isinstance(run, Run):
        return run.folder
    name = str(run)
    return RunFolder.open(Path(name)) if "/" in name else find_run(name, root)


def _job(folder: RunFolder) -> dict[str, str]:
    job = read_job(folder)
    values = job.model_dump(mode="json")
    options, others = options_of(job.arguments)
    values |= {"entry_point": script_path(job.entry_point), "emulation": _asked(job.emulation)}
    if job.working_dir == "own":  # as each launch of a study has it
        values["working_dir"] = None
    told = {**values, "arguments": options, "other arguments": others}
    left_out = {*_NOT_OF_A_JOB, *(name for name in _ARGUMENTS if not told[name])}
    return dict(_flat({k: v for k, v in told.items() if k not in left_out and v is not None}))


def _asked(emulation: Emulation | None) -> dict[str, Any] | None:
    """Return what an emulation is beyond its defaults; None: this machine as it is."""
    asked = {} if emulation is None else emulation.model_dump(exclude_defaults=True)
    if asked.get("time_dilation") == 1:
        del asked["time_dilation"]
    return asked or None


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401  any JSON value
    """Yield each value that has no parts by its path; parts that have names or labels by it."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for place, part in enumerate(value):
            called = part.get("instance_group_name") or part.get("channel_name") or place
            yield from _flat(part, f"{name}[{called}]")
    else:
        yield _text(name), _text(value if isinstance(value, str) else json.dumps(value))


def _code(folder: RunFolder) -> dict[str, str] | None:
    source = read_source(folder)
    if source is None:
        return None
    changed = {None: "unknown", True: "yes", False: "no"}[source.is_changed]
    told = {
        "commit": source.commit[:12],
        "files differ from it": changed if source.commit else "",
    }
    digests = {_text(name): digest[:12] for name, digest in source.files.items()}
    return {name: value for name, value in {**told, **digests}.items() if value}


def _packages(folder: RunFolder) -> dict[str, str] | None:
    environment = read_environment(folder)
    if environment is None:
        return None
    return {"Python": _text(environment.python), **_texts(environment.packages)}


def _machine(folder: RunFolder) -> dict[str, str] | None:
    machine = read_plan(folder).get("facts", {}).get("machine")
    return _texts(machine) if isinstance(machine, dict) else None


def _prices(folder: RunFolder) -> dict[str, str]:
    plan = read_plan(folder)
    notes = dict(note.partition(": ")[::2] for note in plan.get("price_notes", ()))
    return {**_texts(notes), "$/h in all": _text(plan.get("usd_per_hour"))}


def _metrics(folder: RunFolder) -> dict[str, str] | None:
    try:
        return {_text(name): f"{value:.6g}" for name, value in read_logged(folder).last.items()}
    except SmtcLabError:
        return None


_SECTIONS: dict[str, Callable[[RunFolder], dict[str, str] | None]] = {
    "job": _job,
    "code": _code,
    "packages": _packages,
    "machine": _machine,
    "prices": _prices,
    "metrics": _metrics,
}


def _code_diff(first: RunFolder, second: RunFolder, names: tuple[str, str]) -> str:
    sources = read_source(first), read_source(second)
    if sources[0] is None or sources[1] is None:
        return ""
    old, new = sources[0].files, sources[1].files
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    before, after = (source_contents(folder, changed) for folder in (first, second))
    lines: list[str] = []
    for name in changed:
        lines += difflib.unified_diff(
            before.get(name, b"").decode("utf-8", "replace").splitlines(),
            after.get(name, b"").decode("utf-8", "replace").splitlines(),
            f"{names[0]}/{name}",
            f"{names[1]}/{name}",
            lineterm="",
            n=2,
        )
        if len(lines) > _MOST_LINES:
            lines = [*lines[:_MOST_LINES], "… cut here"]
            break
    return "\n".join(neutral(line, longest=_LONGEST) for line in lines)


def _texts(values: Mapping[Any, Any]) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in values.items()}


def _text(value: object) -> str:
    return neutral(str(value), longest=_LONGEST)
