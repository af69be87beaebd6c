from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from smtc_lab.cli import cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def commands(
    command: click.Command, *path: str
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from commands(below, *path, name)


COMMANDS = dict(commands(cli))


def test_there_are_these_commands() -> None:
    assert {" ".join(path) for path in COMMANDS} == {
        "",
        "compare",
        "batch-size",
        "bench",
        "check",
        "environment",
        "environment add",
        "environment make",
        "environment python",
        "environment remove",
        "environment show",
        "memory",
        "plan",
        "render",
        "runs",
        "prove-resume",
        "runs again",
        "runs delete",
        "runs compare",
        "runs diff",
        "runs export",
        "runs import",
        "runs interrupt",
        "runs note",
        "runs resume",
        "runs share",
        "runs show",
        "runs stop",
        "runs sweep",
        "scale",
        "tune",
        "spot",
    }


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_every_option_with_its_meaning(
    smtc_lab: Callable[..., object], path: tuple[str, ...], flag: str
) -> None:
    command = COMMANDS[path]

    said = smtc_lab(*path, flag)

    assert said.exit_code == 0
    assert said.err == ""
    text = " ".join(said.out.split())
    assert text.startswith(f"Usage: smtc-lab {' '.join(path)}".rstrip())
    assert command.help is not None
    assert command.help.split(". ")[0].split("\n")[0] in text
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[0] in text
            assert parameter.help is not None
            assert parameter.help.endswith((".", "here.", "this message and exit."))
            assert parameter.help in text
        else:
            assert parameter.make_metavar(click.Context(command)) in text


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_fits_a_terminal(smtc_lab: Callable[..., object], path: tuple[str, ...]) -> None:
    assert max(len(line) for line in smtc_lab(*path, "--help").out.splitlines()) <= 100


def test_the_program_says_its_exit_codes(smtc_lab: Callable[..., object]) -> None:
    assert "0 success, 1 a run failed, 2 the input was refused" in smtc_lab("--help").out


def test_the_program_alone_shows_its_commands(smtc_lab: Callable[..., object]) -> None:
    said = smtc_lab()

    assert "compare" in said.out + said.err
    assert "Traceback" not in said.err


def test_the_installed_program_says_its_version() -> None:
    program = Path(sysconfig.get_path("scripts")) / "smtc-lab"

    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)

    assert said.stdout.startswith("smtc-lab, version ")
