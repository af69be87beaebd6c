"""Runs for other tools: to MLflow, as a table in a file, as a zip."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import SpecError
from smtc_lab.metrics.result import Result
from smtc_lab.store.run_folder import RunFolder, find_run
from smtc_lab.views.export.run_zip import write_zip
from smtc_lab.views.export.to_mlflow import MlflowExport
from smtc_lab.views.run_table.table import RunTable
from smtc_lab.views.run_table.table import runs as runs_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import StrPath

    from smtc_lab.launchers.run import Run

MLFLOW = "mlflow:"
"""What a target begins with that is MLflow's tracking URI."""

_FILES = (".csv", ".parquet", ".zip")


class ExportedRuns(Result):
    """What became of runs that were exported."""

    to: str
    """Where they were written."""

    written: tuple[str, ...]
    """Names of those that brought something new; into a file, all."""

    unchanged: tuple[str, ...] = ()
    """Those that MLflow had already, with all that is known of them."""

    left_out: tuple[str, ...] = ()
    """Those that have not begun, or are damaged, so that MLflow got nothing of them."""

    def __str__(self) -> str:
        count = len(self.written)
        told = [f"{count:,} run{'s' * (count != 1)} written to {self.to}"]
        if self.unchanged:
            told.append(f"{len(self.unchanged):,} there already")
        if self.left_out:
            told.append(
                f"{len(self.left_out):,} not begun or damaged: {', '.join(self.left_out[:5])}"
            )
        return "; ".join(told) + "."


def export_runs(
    to: StrPath,
    runs: RunTable | Sequence[Run | str] | None = None,
    *,
    root: StrPath | None = None,
) -> ExportedRuns:
    """Write runs for another tool, or for another machine.

    ::

        lab.export_runs("mlflow:http://localhost:5000", lab.runs().where("loss < 0.3"))
        lab.export_runs("runs.parquet")
        lab.export_runs("best.zip", ["digits-7"])

    Args:
        to: ``mlflow:URI`` (``mlflow:`` alone: what ``MLFLOW_TRACKING_URI`` says): parameters,
            tags, metrics with their steps and times, state; twice changes nothing, and of a run
            that has grown what is new is added. ``FILE.csv`` or ``FILE.parquet``: a row for
            each run, as ``lab.runs()`` has it. ``FILE.zip``: the folders of runs that have
            ended, for ``import_runs``.
        runs: Runs, their names or those of studies, whose launches are meant; or a table of
            ``lab.runs()``. None: all.
        root: Folder of runs; None: the default one, or that of the table.

    Raises:
        SpecError: It is none of these, a package is not installed, or there are no runs.
        StoreError: There is no such run, one of a zip goes on, or it cannot be written.
    """
    target = str(to)
    kind = MLFLOW if target.startswith(MLFLOW) else Path(target).suffix.lower()
    if kind not in {MLFLOW, *_FILES}:
        raise SpecError(
            f"Runs cannot be written to {target[:80]!r}. Give 'mlflow:URI', or a file that "
            f"ends in {', '.join(_FILES)}."
        )
    table = _chosen(runs, root)
    names = tuple(str(row["name"]) for row in table.rows)
    if not names:
        raise SpecError(f"There are no such runs in {str(table.root)!r}. See smtc-lab runs.")
    if kind == MLFLOW:
        return _to_mlflow(target.removeprefix(MLFLOW), table)
    if kind == ".csv":
        table.to_csv(target)
    elif kind == ".parquet":
        _to_parquet(Path(target), table)
    else:
        write_zip(Path(target), [RunFolder(table.root / name) for name in names])
    return ExportedRuns(to=target, written=names)


def _chosen(runs: RunTable | Sequence[Run | str] | None, root: StrPath | None) -> RunTable:
    """Return the rows of runs; a study stands for its launches."""
    where = runs.root if isinstance(runs, RunTable) else root
    table = runs_in(where, launches=True)
    if runs is None:
        names = None
    elif isinstance(runs, RunTable):
        names = {str(row["name"]) for row in runs.rows}
    else:
        given = [one if isinstance(one, str) else one.job_name for one in runs]
        studies = {row["name"] for row in table.rows if row["kind"] != "run"}
        names = {
            name if name in studies else find_run(name, table.root).job_name for name in given
        }
    return RunTable(
        root=table.root,
        rows=tuple(
            row
            for row in table.rows
            if row["kind"] == "run" and (names is None or {row["name"], row["study"]} & names)
        ),
    )


def _to_mlflow(uri: str, table: RunTable) -> ExportedRuns:
    begun = [row for row in table.rows if isinstance(row["started"], int | float)]
    export = MlflowExport(uri)
    found = list(export.write(begun, table.root))
    return ExportedRuns(
        to=f"MLflow at {uri or 'MLFLOW_TRACKING_URI'}",
        written=tuple(name for name, is_new in found if is_new),
        unchanged=tuple(name for name, is_new in found if not is_new),
        left_out=tuple(str(row["name"]) for row in table.rows if row not in begun),
    )


def _to_parquet(path: Path, table: RunTable) -> None:
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise SpecError(
            "pyarrow is not installed, and it writes Parquet. Run: pip install pyarrow. "
            "Without it, a file that ends in .csv has the same table."
        ) from error
    columns = {name: [row.get(name) for row in table.rows] for name in table.names}
    for name, values in columns.items():
        kinds = {type(value) for value in values} - {type(None)}
        if len(kinds) > 1 and not kinds <= {int, float}:  # Parquet's columns have one type
            columns[name] = [None if value is None else str(value) for value in values]
        elif kinds == {int, float}:
            columns[name] = [None if value is None else float(str(value)) for value in values]
    try:
        parquet.write_table(arrow.table(columns), path)
    except (OSError, OverflowError, arrow.ArrowInvalid) as error:
        raise SpecError(
            f"{str(path)!r} cannot be written ({error}). Choose another place."
        ) from error
