"""``smtc-lab bench``: run a benchmark notebook and keep its figures."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click

from smtc_lab.cli.say import say
from smtc_lab.errors import RunFailedError, SpecError


def notebooks_folder() -> Path:
    """Return the folder of the benchmark notebooks: beside the package, in a clone.

    Raises:
        SpecError: The package is installed without its repository.
    """
    import smtc_lab  # noqa: PLC0415  its place on disk

    folder = Path(smtc_lab.__file__).parent.with_name("notebooks")
    if not (folder / "benchmarks").is_dir():
        raise SpecError(
            f"The benchmarks are in the repository of smtc_lab, not in what is installed at "
            f"{str(folder.parent)!r}: clone it, run 'make setup' there, then "
            "'.venv/bin/smtc-lab bench'."
        )
    return folder


@click.command()
@click.argument("name")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures here."
)
@click.option(
    "-p",
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the notebook, as JSON.",
)
@click.option(
    "--keep", type=click.Path(path_type=Path), help="Keep the executed notebook here."
)
def bench(
    name: str, json_file: Path | None, parameters: tuple[str, ...], keep: Path | None
) -> None:
    """Run notebooks/bench_NAME.ipynb and print its figures. Needs a clone of the repository.

    Each with its value, its 95 % interval, its goal and whether the goal holds.
    """
    notebook = notebooks_folder() / f"bench_{name}.ipynb"
    if not notebook.is_file():
        known = sorted(
            path.stem.removeprefix("bench_") for path in notebook.parent.glob("bench_*.ipynb")
        )
        raise SpecError(
            f"There is no benchmark {name[:80]!r}. Choose among {', '.join(known) or 'none'}."
        )
    with tempfile.TemporaryDirectory() as scratch:
        result = (json_file or Path(scratch) / "figures.json").resolve()
        result.parent.mkdir(parents=True, exist_ok=True)
        result.unlink(missing_ok=True)
        output = keep or Path(scratch) / notebook.name
        _execute(notebook, output, {"json_file": str(result), **_values(parameters)})
        if not result.is_file():
            raise RunFailedError(
                f"The benchmark {name!r} ended without writing its figures to {str(result)!r}. "
                "Run it with --keep and look at the notebook."
            )
        for figure in json.loads(result.read_text(encoding="utf-8"))["figures"]:
            say(_line(figure))


def _execute(notebook: Path, output: Path, values: dict[str, object]) -> None:
    import papermill  # noqa: PLC0415  slow to import

    try:
        papermill.execute_notebook(
            str(notebook),
            str(output),
            parameters=values,
            progress_bar=False,
            kernel_name="python3",
        )
    except papermill.PapermillExecutionError as error:
        raise RunFailedError(
            f"The benchmark notebook {notebook.name} failed: {error.ename}: {error.evalue}"
        ) from error


def _values(parameters: tuple[str, ...]) -> dict[str, object]:
    values: dict[str, object] = {}
    for text in parameters:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise SpecError(
                f"Parameter {text!r} is not NAME=VALUE. Write for example repeats=5."
            )
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values


def _line(figure: dict[str, object]) -> str:
    interval = ""
    if figure["low"] is not None and figure["high"] is not None:
        interval = f" ({figure['low']:.4g} to {figure['high']:.4g})"
    goal = ""
    if figure["goal"] is not None:
        sign = "at least" if figure["better"] == "higher" else "at most"
        goal = f", goal {sign} {figure['goal']:g}: {'holds' if figure['holds'] else 'MISSED'}"
    peer = f" against {figure['peer']}" if figure["peer"] else ""
    return f"{figure['name']}{peer}: {figure['value']:.4g}{interval} {figure['unit']}{goal}"
