"""Copies runs to an MLflow tracking server or database, each once however often it is asked."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SpecError, StoreError
from smtc_lab.neutral_text import neutral
from smtc_lab.store.identity.source import read_source
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.said import without_secrets
from smtc_lab.store.steps.logged import read_logged
from smtc_lab.views.run_table.facts import PARAM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from smtc_lab.views.run_table.facts import Facts

    Point = tuple[int, int, float | str]

IDENTITY = "smtc_lab.run"
"""Tag with what tells a run of ours from all others: its name, and when it began."""

EXPORTED = "smtc_lab.exported"
"""Tag with a digest of all that was copied, written last."""

_OWN_EXPERIMENT = "smtc_lab"
_TAGS = ("kind", "state", "script", "cluster", "engine", "study", "launch", "made_by", "tags")
_FIGURES = ("steps", "step_time_s", "took_s", "cost_usd", "usd_per_hour", "evidence")
_STATUS = {"Completed": "FINISHED", "Failed": "FAILED", "Stopped": "KILLED"}
_LONGEST = 5_000
_PAGE = 1_000
_MOST_AT_ONCE = {"metrics": 1_000, "params": 100, "tags": 100}
_GREATEST = 1.7976931348623157e308
"""What MLflow's databases have in the place of an infinite number."""


class MlflowExport:
    """An MLflow server, or a database of it, that runs are copied to.

    Args:
        uri: Its tracking URI; empty: what ``MLFLOW_TRACKING_URI`` says.

    Raises:
        SpecError: MLflow is not installed.
    """

    def __init__(self, uri: str) -> None:
        try:
            tracking = importlib.import_module("mlflow.tracking")
            self._entities = importlib.import_module("mlflow.entities")
            self._error = importlib.import_module("mlflow.exceptions").MlflowException
        except ImportError as error:
            raise SpecError(
                f"MLflow cannot be imported ({error}). Run: pip install mlflow-skinny; for a "
                "database in a file (sqlite:///FILE): pip install mlflow."
            ) from error
        self._uri = uri
        self._client: Any = tracking.MlflowClient(tracking_uri=uri or None)
        self._known: dict[str, dict[str, Any]] = {}

    def write(self, rows: Sequence[Facts], root: Path) -> Iterator[tuple[str, bool]]:
        """Copy runs, and yield the name of each, and whether it brought anything new.

        Args:
            rows: What is known of them; all have begun.
            root: Where they lie.

        Raises:
            StoreError: MLflow refuses something or cannot be reached, or records are damaged.
        """
        for row in rows:
            try:
                yield str(row["name"]), self._write(row, RunFolder(root / str(row["name"])))
            except self._error as error:
                raise StoreError(
                    f"MLflow at {self._uri!r} did not take run {row['name']!r}: "
                    f"{neutral(str(error), longest=300)} Mend that and export again: what is "
                    "there already is not copied twice."
                ) from error

    def _write(self, row: Facts, folder: RunFolder) -> bool:
        experiment, known = self._experiment(str(row["experiment"] or row["study"] or ""))
        begun_s, took_s = float(str(row["started"])), row["took_s"]
        identity = f"{row['name']} {begun_s:.3f}"
        status = _STATUS.get(str(row["state"]), "RUNNING")
        params, tags, points = _params(row), _tags(row, folder), _points(folder)
        counts = {name: len(found) for name, found in points.items()}
        told = json.dumps([status, took_s, params, tags, counts], sort_keys=True)
        digest = hashlib.sha256(told.encode()).hexdigest()
        run = known.get(identity)
        if run is not None and run.data.tags.get(EXPORTED) == digest:
            return False
        is_new = run is None
        if run is None:
            run = self._client.create_run(
                experiment,
                start_time=_ms(begun_s),
                tags={IDENTITY: identity},
                run_name=str(row["name"]),
            )
            known[identity] = run
        kept, run_id = run.data.params, run.info.run_id
        self._log(
            run_id,
            metrics=list(self._new_points(run_id, points, is_new=is_new)),
            params=[(name, text) for name, text in params.items() if name not in kept],
            tags=list(tags.items()),
        )
        if status == "RUNNING" or not isinstance(took_s, int | float):
            self._client.update_run(run_id, status=status)
        else:
            self._client.set_terminated(run_id, status, end_time=_ms(begun_s + took_s))
        self._log(run_id, tags=[(EXPORTED, digest)])
        return True

    def _experiment(self, name: str) -> tuple[str, dict[str, Any]]:
        """Return the id of an experiment, made where it is not, and our runs in it."""
        called = name or _OWN_EXPERIMENT
        found = self._client.get_experiment_by_name(called)
        where = self._client.create_experiment(called) if found is None else found.experiment_id
        if where not in self._known:
            self._known[where] = {}
            page: Any = None
            while page is None or page.token:
                page = self._client.search_runs(
                    [where],
                    filter_string=f"tags.`{IDENTITY}` != ''",
                    max_results=_PAGE,
                    page_token=None if page is None else page.token,
                )
                self._known[where] |= {run.data.tags[IDENTITY]: run for run in page}
        return where, self._known[where]

    def _new_points(
        self, run_id: str, points: Mapping[str, Sequence[Point]], *, is_new: bool
    ) -> Iterator[tuple[str, float, int, int]]:
        """Yield name, value, time in ms and step of what MLflow does not have yet."""
        for name, found in points.items():
            there = () if is_new else self._client.get_metric_history(run_id, name)
            known = {_point(one.timestamp, one.step, one.value) for one in there}
            for point in dict.fromkeys(found):
                if point not in known:
                    time_ms, step, value = point
                    yield name, float(value), time_ms, step

    def _log(self, run_id: str, **given: list[tuple[Any, ...]]) -> None:
        kinds = {"metrics": "Metric", "params": "Param", "tags": "RunTag"}
        for what, values in given.items():
            kind = getattr(self._entities, kinds[what])
            most = _MOST_AT_ONCE[what]
            for begin in range(0, len(values), most):
                batch = [kind(*one) for one in values[begin : begin + most]]
                self._client.log_batch(run_id, **{what: batch})


def _params(row: Facts) -> dict[str, str]:
    """Return hyperparameters and options; values of those named like a secret are hidden."""
    found: dict[str, str] = {}
    for name, value in row.items():
        if name.startswith(PARAM) and value is not None:
            called = name.removeprefix(PARAM)
            assigned = without_secrets(f"{called}={value}", {})
            found[_key(called, found)] = assigned.removeprefix(f"{called}=")[:_LONGEST]
    return found


def _tags(row: Facts, folder: RunFolder) -> dict[str, str]:
    names = (*_TAGS, *_FIGURES, "compiler", "seed")
    tags = {f"smtc_lab.{name}": row[name] for name in names}
    source = read_source(folder)
    tags["mlflow.note.content"] = row["note"] or row["reason"]
    tags["mlflow.source.name"] = row["script"]
    tags["mlflow.source.git.commit"] = None if source is None else source.commit or None
    return {
        name: neutral(str(value))[:_LONGEST]
        for name, value in tags.items()
        if value is not None
    }


def _points(folder: RunFolder) -> dict[str, list[Point]]:
    """Return the values of each metric as MLflow keeps them; the first rank's has its name."""
    found: dict[str, list[Point]] = {}
    seen: set[str] = set()
    for one in read_logged(folder).series:
        name = f"{one.name}/rank{one.rank}" if one.name in seen else one.name
        seen.add(one.name)
        found[_key(name, found)] = [
            _point(_ms(time_s), 0 if math.isnan(step) else int(step), value)
            for time_s, step, value in zip(
                one.time_s.tolist(), one.step.tolist(), one.value.tolist(), strict=True
            )
        ]
    return found


def _point(time_ms: int, step: int, value: float) -> Point:
    """Return a value with its time and step, the same for what MLflow takes to be the same."""
    if math.isnan(value):
        return time_ms, step, "nan"
    return time_ms, step, max(-_GREATEST, min(_GREATEST, value))


def _key(name: str, taken: Mapping[str, object]) -> str:
    """Return a name as MLflow takes it; of two that become the same, the second is marked."""
    plain = "".join(letter if letter.isalnum() or letter in "_-. /" else "_" for letter in name)
    plain = "/".join(part for part in plain[:200].split("/") if part.strip(". ")) or "_"
    if plain in taken:
        plain = f"{plain}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return plain


def _ms(time_s: float) -> int:
    return round(1000 * time_s)
