"""``smtc-lab environment``: make, name, list, show and remove Python environments."""

from __future__ import annotations

import json
from pathlib import Path

import click

from smtc_lab.cli.say import say
from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.environments.named import (
    add_environment,
    environments,
    environments_root,
    remove_environment,
)
from smtc_lab.machine.environments.probe import EnvironmentFacts, environment_facts

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True)
@_JSON
@click.pass_context
def environment(context: click.Context, *, as_json: bool) -> None:
    """List the Python environments that a job may name; or make, add, show and remove them.

    \b
    Examples:
      smtc-lab environment make xla
      smtc-lab environment make torch-2.9
      smtc-lab environment make old --requirements requirements.txt
      smtc-lab environment add lab ~/miniconda3/envs/lab
      smtc-lab compare --python-environment today,torch-2.9 train.py
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    if context.invoked_subcommand is not None:
        return
    rows = [_row(name) for name in (None, *(each.name for each in environments()))]
    if as_json:
        say(json.dumps(rows, indent=1))
        return
    for row in rows:
        what = row["problem"] or f"Python {row['version']}, torch {row['torch'] or 'none'}"
        xla = f", torch_xla {row['torch_xla']}" if row["torch_xla"] else ""
        say(f"{row['name']:<16}  {what}{xla}  {row['python'] or ''}".rstrip())
    if len(rows) == 1:
        say(f"No other one in {environments_root()}. See --help.")


@environment.command()
@click.argument("name")
@click.option(
    "--requirements",
    type=click.Path(path_type=Path, resolve_path=True),
    help="Requirements file; one without hashes is resolved first. Not needed for 'xla' and "
    "'torch-VERSION'.",
)
@click.option("--python", help="Interpreter, or version of Python. Default: this one's.")
def make(name: str, requirements: Path | None, python: str | None) -> None:
    """Make an environment with uv: xla, torch-2.11 (any version), or NAME from a file."""
    from smtc_lab.machine.environments.make import make_environment  # noqa: PLC0415  rarely

    made = make_environment(
        name,
        requirements=requirements,
        python=python,
        say=lambda text: say(text, err=True),
    )
    say(_line(environment_facts(made.name)))


@environment.command()
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path))
def add(name: str, folder: Path) -> None:
    """Call the virtual environment, conda prefix or interpreter FOLDER by a NAME."""
    add_environment(name, folder)
    try:
        say(_line(environment_facts(name)))
    except PythonEnvironmentError:
        remove_environment(name)
        raise


@environment.command()
@click.argument("name")
@_JSON
def show(name: str, *, as_json: bool) -> None:
    """Show the interpreter and the packages of an environment; 'today' is this one."""
    facts = environment_facts(name)
    if as_json:
        values = {"name": facts.name, "python": facts.python, "version": facts.version}
        say(json.dumps({**values, "packages": facts.packages}, indent=1))
        return
    say(_line(facts))
    for package, version in facts.packages.items():
        say(f"  {package}=={version}")


@environment.command()
@click.argument("name")
def python(name: str) -> None:
    """Print the path of the interpreter of an environment, for a command line."""
    click.echo(environment_facts(name).python)


@environment.command()
@click.argument("name")
def remove(name: str) -> None:
    """Forget a NAME, and remove what was made for it; what existed before stays."""
    remove_environment(name)
    say(f"{name} is removed.")


def _line(facts: EnvironmentFacts) -> str:
    torch_xla = facts.packages.get("torch-xla")
    xla = f", torch_xla {torch_xla}" if torch_xla else ""
    return f"{facts.name}: Python {facts.version}, torch {facts.torch}{xla}, {facts.python}"


def _row(name: str | None) -> dict[str, str | None]:
    row: dict[str, str | None] = dict.fromkeys(
        ("name", "python", "version", "torch", "torch_xla", "problem")
    )
    try:
        facts = environment_facts(name)
    except PythonEnvironmentError as error:
        return row | {"name": name, "problem": str(error)}
    return row | {
        "name": facts.name,
        "python": facts.python,
        "version": facts.version,
        "torch": facts.torch,
        "torch_xla": facts.packages.get("torch-xla"),
    }
