"""``smtc-lab memory``: what a step of a model holds, and the cheapest clusters that fit it."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import click

from smtc_lab.catalog.accelerators import PRECISIONS
from smtc_lab.cli.say import say
from smtc_lab.cli.writable import unwritable
from smtc_lab.errors import SpecError
from smtc_lab.study.options import job_options

_PARTS = (2, 3, 4)


@click.command()
@click.argument("model", metavar="FILE.py:FUNCTION")
@click.option("--cheapest", is_flag=True, help="Which clusters fit, with time and price.")
@click.option(
    "--global-batch-size",
    type=int,
    help="Samples of a step, of all devices. Default: the batch.",
)
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    help="In what matrices are multiplied. Default: as the parameters are.",
)
@click.option(
    "--utilization",
    type=float,
    metavar="SHARE",
    help="Share of the devices' peak that training reaches. Default: what published ones did.",
)
@click.option("--instance-types", metavar="NAME,…", help="Types to choose from.")
@click.option("--max-instances", type=int, default=4, show_default=True, help="Most instances.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write it here.")
def memory(*, model: str, **options: Any) -> None:  # noqa: ANN401  click's parameters
    """Tell what a training step holds on each device, without running it.

    FUNCTION of FILE.py returns model, batch, loss function and, if it is not AdamW, optimizer;
    a model on torch.device("meta") needs no memory.

    \b
    Example:
      smtc-lab memory train.py:setup --cheapest --global-batch-size 256
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    refusals = job_options.Refusals()
    made = refusals.tried(_called, model)
    refusals.problems += unwritable(options["json_file"])
    refusals.problems += _of_cheapest_alone(options)
    refusals.raise_if_any()
    made_model, batch, loss_fn, optimizer = [*(made or ()), None, None][:4]
    found: Any
    if options["cheapest"]:
        from smtc_lab.parallel.memory.cheapest import cheapest_cluster  # noqa: PLC0415  needs torch

        names = options["instance_types"]
        found = cheapest_cluster(
            made_model,
            batch,
            loss_fn,
            optimizer=optimizer,
            global_batch_size=options["global_batch_size"],
            precision=options["precision"],
            utilization=options["utilization"],
            instance_types=None if names is None else names.split(","),
            max_instances=options["max_instances"],
        )
        told = found.as_dict()
    else:
        from smtc_lab.parallel.memory.memory import memory as needs_of  # noqa: PLC0415  as above

        found = needs_of(made_model, batch, loss_fn, optimizer=optimizer)
        told = found.model_dump(mode="json")
    say(str(found))
    if options["json_file"] is not None:
        options["json_file"].write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        say(f"JSON: {options['json_file']}")


def _of_cheapest_alone(options: dict[str, Any]) -> list[str]:
    names = ("global_batch_size", "precision", "utilization", "instance_types")
    given = [f"--{one.replace('_', '-')}" for one in names if options[one] is not None]
    if not given or options["cheapest"]:
        return []
    return [f"{', '.join(given)} belongs to --cheapest. Add it, or drop what needs it."]


def _called(text: str) -> tuple[Any, ...]:
    """Return what a function of a file returns: a model and what it is trained with."""
    file, _, name = text.rpartition(":")
    path = Path(file)
    if not file or not path.is_file():
        raise SpecError(f"{text[:80]!r} is not FILE.py:FUNCTION with a file. Give one.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SpecError(f"{file[:80]!r} is not a Python file. Give one that ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))  # what it imports lies beside it
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise SpecError(f"{file[:80]!r} has no function {name[:80]!r}. Name one that it has.")
    made = function()
    if not isinstance(made, tuple) or len(made) not in _PARTS:
        raise SpecError(
            f"{name[:80]} returned a {type(made).__name__}. Let it return the model, a batch, "
            "the loss function and, if you like, the optimizer."
        )
    return made
