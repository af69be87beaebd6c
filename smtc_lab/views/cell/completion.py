"""Completion of ``%%smtc`` and ``%smtc``: options, clusters, compilers, runs, files.

It is one matcher of IPython's second interface (8.6 and later), which works the same with and
without jedi, in a terminal and behind JupyterLab's completer.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.spec.cluster import LOCAL, Role, Runs
from smtc_lab.spec.compiler import Backend
from smtc_lab.store.run_folder import find_runs
from smtc_lab.study.folder import studies_root
from smtc_lab.study.options.distribution_options import SeveralValues
from smtc_lab.study.stored import find_studies
from smtc_lab.views.cell.options import CELL, LINE, OPTIONS
from smtc_lab.views.cell.words import words_until

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_GROUPS = ("dnn_group", "data_group")
"""Names of groups in AWS's own examples."""

_BACKENDS = ("eager", *(name for name in get_args(Backend) if name != "eager"))
"""The baseline first."""

_MAGIC = re.compile(rf"\s*(?:[\w, ]+=\s*)?(?P<magic>{CELL}|{LINE})\s(?P<rest>.*)", re.DOTALL)
_DELIMITERS = re.compile(r"[\s=:,@\"']")
_MOST_NAMES = 50


def completions(text: str, commands: Sequence[str]) -> list[str]:
    """Return what may stand at the end of a line, the part that is typed already included.

    Args:
        text: The line up to the cursor.
        commands: The commands of ``%smtc``.

    Returns:
        Texts for the part of the line behind the last delimiter; none where the line is not
        ours, or where anything may stand.
    """
    match = _MAGIC.match(text)
    if match is None:
        return []
    *before, word = words_until(match["rest"])
    found: Iterable[str]
    if match["magic"] == CELL:
        found = _launch_words(before, word, takes_file=False)
    elif not before:
        found = [*commands, "--help"]
    elif before[0] == "run":
        found = _launch_words(before[1:], word, takes_file=True)
    elif before[0] in {"show", "stop"} and len(before) == 1:
        found = _names()
    elif before[0] == "delete":
        found = ["--yes", "--help"] if word.startswith("-") else _names()
        found = [name for name in found if name not in before]
    else:
        found = ["-n", "--help"] if before[0] == "runs" and word.startswith("-") else []
    typed = _DELIMITERS.split(word)[-1]
    return [item for item in dict.fromkeys(found) if item.startswith(typed)]


def add_completion(ipython: Any, commands: Sequence[str]) -> None:  # noqa: ANN401  IPython's shell has no light type
    """Make a shell complete the lines of ``%%smtc`` and ``%smtc``."""
    from IPython.core.completer import SimpleCompletion, context_matcher  # noqa: PLC0415  IPython is at hand here

    @context_matcher(identifier="smtc_lab", priority=100)  # type: ignore[untyped-decorator]  # IPython's
    def matcher(context: Any) -> dict[str, Any]:  # noqa: ANN401  IPython's
        found = completions(context.text_until_cursor, commands)
        return {
            "completions": [SimpleCompletion(text=text, type="smtc") for text in found],
            "suppress": bool(found),
            "ordered": True,
        }

    ours = [one for one in ipython.Completer.custom_matchers if _is_ours(one)]
    for old in ours:  # the extension was loaded before
        ipython.Completer.custom_matchers.remove(old)
    ipython.Completer.custom_matchers.append(matcher)


def _is_ours(matcher: object) -> bool:
    return getattr(matcher, "matcher_identifier", None) == "smtc_lab"


def _launch_words(before: Sequence[str], word: str, *, takes_file: bool) -> Iterable[str]:
    """Return what may follow in a line of launch options."""
    if "--" in before:  # the script's own
        return ()
    name, has_value, value = word.partition("=")
    if has_value and name.startswith("--"):
        return _values(_option(name), value)
    last = _option(before[-1]) if before else None
    if last is not None and not last.is_flag:
        return _values(last, word)
    if not word.startswith("-") and takes_file:
        return _scripts(word)
    if not word.startswith("-") and word:
        return ()
    return [
        option.opts[-1]
        for option in OPTIONS
        if option.multiple or not set(option.opts) & set(before)
    ]


def _option(flag: str) -> click.Option | None:
    return next((option for option in OPTIONS if flag in option.opts), None)


def _values(option: click.Option | None, word: str) -> Iterable[str]:
    """Return what may stand behind an option, where ``word`` is typed already."""
    if option is None:
        return ()
    if option.name == "clusters":
        return _cluster_parts(word)
    if option.name == "compiler":
        return _others_of(_BACKENDS, word)
    if isinstance(option.type, SeveralValues) and isinstance(option.type.of, click.Choice):
        return _others_of(option.type.of.choices, word)
    return option.type.choices if isinstance(option.type, click.Choice) else ()


def _others_of(choices: Iterable[str], word: str) -> list[str]:
    """Return what may stand behind the last comma of several choices."""
    return [name for name in choices if name not in word.split(",")[:-1]]


def _cluster_parts(word: str) -> Iterable[str]:
    """Return group names, instance types, roles or what else runs, whichever comes next."""
    *done, group = word.rpartition("@")[2].split(",")
    if "=" not in group:
        return [f"{name}=" for name in _GROUPS if not any(name in one for one in done)]
    parts = group.partition("=")[2].split(":")
    if len(parts) == 1:
        return [*Catalog.load().names(), LOCAL]
    after_count = {3: (*get_args(Role), *get_args(Runs)), 4: get_args(Runs)}
    return after_count.get(len(parts), ())


def _names() -> list[str]:
    """Return the names of runs and comparisons, the newest first."""
    comparisons = sorted(path.name for _, path in find_studies(studies_root()))
    runs = [folder.job_name for folder in find_runs()]
    return [*reversed(runs[-_MOST_NAMES:]), *reversed(comparisons[-_MOST_NAMES:])]


def _scripts(word: str) -> list[str]:
    """Return Python files and folders whose path begins so."""
    folder, slash, _ = word.rpartition("/")
    place = Path(folder + slash).expanduser()
    try:
        inside = sorted(place.iterdir(), key=lambda path: path.name)
    except OSError:  # no such folder
        return []
    return [
        folder + slash + path.name + ("/" if path.is_dir() else "")
        for path in inside
        if (path.is_dir() or path.suffix == ".py")
        and not path.name.startswith(".")
        and shlex.quote(path.name) == path.name  # another one would have to be quoted
    ]
