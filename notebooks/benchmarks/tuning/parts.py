"""The parts of ``notebooks/bench_tuning.ipynb``, each of which can be measured alone.

A part whose rows are all kept is not measured again. ``python -m
notebooks.benchmarks.tuning.parts <part> <sizes>`` measures one and prints its rows as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.fresh import measured
from notebooks.benchmarks.tuning import halving, kills, priced, sampler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Row = dict[str, Any]
Sizes = dict[str, Any]

_MODULE = "notebooks.benchmarks.tuning.parts"
_LIMIT_S = 3600.0


def part_rows(part: str, *, kept: Path | None = None, **sizes: Any) -> list[Row]:  # noqa: ANN401  JSON
    """Return the rows of a part.

    Args:
        part: One of ``PARTS``.
        kept: Folder in which they are kept, and looked for first; None: nowhere.
        **sizes: How much is measured, as ``PARTS`` takes it.

    Raises:
        ValueError: There is no such part.
        RunFailedError: A measurement failed.
    """
    if part not in PARTS:
        raise ValueError(f"There is no part {part!r}. Choose among {', '.join(PARTS)}.")
    file = None if kept is None else kept / f"{part}.json"
    if file is not None and file.is_file():
        found: Row = json.loads(file.read_text(encoding="utf-8"))
        if found["sizes"] == sizes:
            return list(found["rows"])
    # in a process of its own, which has no other threads: some measure its time, or fork
    rows: list[Row] = measured(part, "-m", _MODULE, part, json.dumps(sizes), limit_s=_LIMIT_S)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"sizes": sizes, "rows": rows}, indent=1), encoding="utf-8")
    return rows


PARTS: Mapping[str, Callable[[Path, Sizes], Iterator[Row]]] = {
    "cost": lambda folder, sizes: sampler.cost_rows(folder, **sizes),
    "kills": lambda folder, sizes: kills.kill_rows(folder, **sizes),
    "regret": lambda _, sizes: sampler.regret_rows(**sizes),
    "halving": lambda folder, sizes: halving.halving_rows(folder, **sizes),
    "budget": lambda folder, sizes: halving.budget_rows(folder, **sizes),
    "priced": lambda folder, sizes: priced.priced_rows(folder, **sizes),
}
"""What each part measures: into a folder, so much of it."""


def main(part: str, sizes: str) -> None:
    """Print the rows of a part as one line of JSON.

    Args:
        part: One of ``PARTS``.
        sizes: How much is measured, as JSON.
    """
    with TemporaryDirectory() as folder:
        rows = list(PARTS[part](Path(folder), json.loads(sizes)))
    sys.stdout.write("\n" + json.dumps(rows) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
