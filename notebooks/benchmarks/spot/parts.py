"""The parts of ``notebooks/bench_spot.ipynb``, each of which can be measured alone.

A part whose rows are all kept is not measured again.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.fresh import measured
from notebooks.benchmarks.spot import cost, forecasts, kills, market, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Row = dict[str, Any]
Sizes = dict[str, Any]

_MODULE = "notebooks.benchmarks.spot"
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
    with TemporaryDirectory() as folder:
        rows = list(PARTS[part](Path(folder), sizes))
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"sizes": sizes, "rows": rows}, indent=1), encoding="utf-8")
    return rows


def _stalls(_: Path, sizes: Sizes) -> Iterator[Row]:
    for mb in sizes["stall_mb"]:
        yield from _fresh("stall", mb, sizes["rounds"])


def _places(_: Path, sizes: Sizes) -> Iterator[Row]:
    return place.place_rounds(samples=sizes["samples"], rounds=sizes["rounds"])


def _forecasts(_: Path, sizes: Sizes) -> Iterator[Row]:
    yield from forecasts.forecast_rounds(futures=sizes["futures"], rounds=sizes["rounds"])
    yield from forecasts.formula_rows(jobs=sizes["futures"])
    yield from forecasts.trace_rows(sizes["traces"], futures=sizes["futures"])


def _markets(folder: Path, sizes: Sizes) -> Iterator[Row]:
    for number, dilation in enumerate(sizes["dilations"]):
        yield from market.market_runs(
            folder / str(number),
            runs=sizes["runs"],
            steps=sizes["run_steps"],
            seed=sizes["market_seed"] + number * sizes["runs"],
            dilation=dilation,
        )


def _fresh(module: str, *numbers: int) -> list[Row]:
    rows: list[Row] = measured(
        module, "-m", f"{_MODULE}.{module}", *map(str, numbers), limit_s=_LIMIT_S
    )
    return rows


PARTS: Mapping[str, Callable[[Path, Sizes], Iterator[Row]]] = {
    "stall": _stalls,
    "place": _places,
    "forecast": _forecasts,
    "cost": lambda folder, sizes: cost.cost_rounds(
        folder, width=sizes["width"], steps=sizes["cost_steps"], rounds=sizes["rounds"]
    ),
    "kills": lambda folder, sizes: kills.kill_rows(folder, kills=sizes["kills"]),
    "faults": lambda _, sizes: iter(_fresh("faults", sizes["faults"], 0)),
    "memory": lambda _, sizes: iter(_fresh("memory", sizes["saves"], sizes["memory_mb"])),
    "market": _markets,
}
"""What each part measures: into a folder, so much of it."""
