"""Instance groups, and the cluster that they make."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from smtc_lab.display import Displayed
from smtc_lab.errors import SpecError
from smtc_lab.spec.base import PlainText, Strict, field_of, init_of_pydantic, spec_error

MAX_INSTANCE_GROUPS = 5
"""SageMaker's limit for one training job."""

MAX_INSTANCE_COUNT = 10_000
"""Our own limit for one group: more than any account gets, few enough to list the hosts."""

LOCAL = "local"
"""The instance type that stands for this machine as it is: no quota, no price."""

Role = Literal["train", "data"]
"""What the instances of a group do: run optimizer steps, or prepare batches for those."""

Runs = Literal["script"]
"""What else data instances may run: the entry point, which brings a data server of its own."""

_GROUP_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_INSTANCE_TYPE = r"ml\.[a-z0-9-]{1,32}\.[a-z0-9]{1,32}"
_GROUP_TEXT = re.compile(
    r"(?P<name>[^=:,]+)=(?P<type>[^=:,]+)(:(?P<count>-?[0-9]{1,9})"
    r"(:(?P<role>(?!\s*script\s*$)[^=:,]+))?(:\s*(?P<runs>script)\s*)?)?"
)


class InstanceGroup(Strict):
    """Identical instances with one role. Takes SageMaker's own arguments, also by position."""

    instance_group_name: Annotated[
        str, Field(json_schema_extra={"pattern": f"^{_GROUP_NAME}$", "maxLength": 64})
    ]
    """Name of the group in its job, 1 to 64 characters: letters, digits, ``_`` and ``-``."""

    instance_type: Annotated[
        str, Field(json_schema_extra={"pattern": f"^({LOCAL}|{_INSTANCE_TYPE})$"})
    ]
    """A SageMaker training instance type (``ml.c5.9xlarge``), or ``local`` for this machine."""

    instance_count: Annotated[
        int, Field(json_schema_extra={"minimum": 1, "maximum": MAX_INSTANCE_COUNT})
    ] = 1
    """Number of instances, 1 to 10,000."""

    role: Role | None = None
    """``train`` or ``data``; None leaves it to the types of the job's groups."""

    runs: Runs | None = None
    """``script``: instances of a data group run the entry point as it is, for scripts that
    bring a data server of their own, as for SageMaker's heterogeneous clusters. None: they
    serve the trainers' dataloaders, and run no line of it."""

    @init_of_pydantic
    def __init__(
        self,
        /,
        instance_group_name: str | None = None,
        instance_type: str | None = None,
        instance_count: int | None = None,
        **data: Any,  # noqa: ANN401  pydantic checks the fields
    ) -> None:
        given = {
            "instance_group_name": instance_group_name,
            "instance_type": instance_type,
            "instance_count": instance_count,
        }
        super().__init__(**{k: v for k, v in given.items() if v is not None}, **data)

    @field_validator("instance_group_name")
    @classmethod
    def _name_is_legal(cls, name: str) -> str:
        if not re.fullmatch(_GROUP_NAME, name):
            raise ValueError(
                f"Instance group name {name[:80]!r} is not 1 to 64 letters, digits, '_' or '-' "
                "that begin with a letter or digit. Rename the group."
            )
        return name

    @field_validator("instance_type")
    @classmethod
    def _type_is_a_name(cls, instance_type: str) -> str:
        if instance_type != LOCAL and not re.fullmatch(_INSTANCE_TYPE, instance_type):
            raise ValueError(
                f"Instance type {instance_type[:80]!r} is not of the form "
                "'ml.<family>.<size>'. Write for example 'ml.c5.9xlarge', or 'local' for this "
                "machine."
            )
        return instance_type

    @field_validator("instance_count")
    @classmethod
    def _count_is_legal(cls, count: int, info: ValidationInfo) -> int:
        if not 1 <= count <= MAX_INSTANCE_COUNT:
            name = info.data.get("instance_group_name")
            group = "An instance group" if name is None else f"Instance group {name!r}"
            raise ValueError(
                f"{group} has instance_count={count}, but needs 1 to "
                f"{MAX_INSTANCE_COUNT}. Change instance_count, or drop the group from the job."
            )
        return count

    @field_validator("runs")
    @classmethod
    def _trainers_are_told_nothing(cls, runs: Runs | None, info: ValidationInfo) -> Runs | None:
        if runs is not None and info.data.get("role") == "train":
            raise ValueError(needless_runs(str(info.data.get("instance_group_name"))))
        return runs

    def __str__(self) -> str:
        parts = (self.instance_type, self.instance_count, self.role, self.runs)
        said = ":".join(str(part) for part in parts if part is not None)
        return f"{self.instance_group_name}={said}"


class Cluster(Displayed, Strict):
    """One to five instance groups. One group is homogeneous, more are heterogeneous."""

    instance_groups: Annotated[
        tuple[InstanceGroup, ...],
        Field(strict=False, json_schema_extra={"minItems": 1, "maxItems": MAX_INSTANCE_GROUPS}),
    ]
    """The groups, in the order in which their instances are named ``algo-1``, ``algo-2``, …"""

    name: Annotated[
        PlainText | None, Field(json_schema_extra={"minLength": 1, "maxLength": 64})
    ] = None
    """What tables and charts call this cluster; None: ``homogeneous`` or ``heterogeneous``."""

    @field_validator("instance_groups", mode="wrap")
    @classmethod
    def _groups_are_legal(
        cls, groups: object, handler: ValidatorFunctionWrapHandler
    ) -> tuple[InstanceGroup, ...]:
        if isinstance(groups, InstanceGroup | Mapping):
            raise SpecError(
                f"Cluster.instance_groups is one group ({str(groups)[:80]}), but must be a "
                "list of groups. Put it in brackets."
            )
        problems = []
        try:
            groups = handler(groups)
        except ValidationError as error:
            problems = spec_error("Cluster.instance_groups", error).problems
        if isinstance(groups, Sequence) and not isinstance(groups, str | bytes):
            problems += _problems_between(groups)
        if problems:
            raise SpecError(problems)
        assert isinstance(groups, tuple)  # noqa: S101  the handler returned
        return groups

    @field_validator("name")
    @classmethod
    def _name_can_be_printed(cls, name: str | None) -> str | None:
        if name is not None and not (name.strip() and len(name) <= 64):
            raise ValueError(
                f"Cluster name {name[:80]!r} is not 1 to 64 characters. Change it."
            )
        if name is not None and not name.isprintable():
            raise ValueError(
                f"Cluster name {name!r} holds a line break or another character that tables "
                "cannot show. Drop it."
            )
        return name

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the cluster that a command line names.

        Args:
            text: ``[NAME@]GROUP=TYPE[:COUNT[:ROLE][:script]]``, groups separated by commas,
                for example ``fed@dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1``. With
                ``:script`` at its end a group has ``runs="script"``.

        Raises:
            SpecError: The text does not have this form, or names an illegal cluster.
        """
        name, _, groups_text = text.rpartition("@")
        parts = [part.strip() for part in groups_text.split(",") if part.strip()]
        groups: list[InstanceGroup] = []
        problems = []
        for part in parts:
            try:
                groups.append(_parsed_group(part))
            except SpecError as error:
                problems += error.problems
        if not parts:
            problems.append(
                f"Cluster {text[:80]!r} names no instance group. Write for example "
                "'dnn_group=ml.p3.2xlarge:1'."
            )
        if problems:
            raise SpecError(problems)
        return cls(instance_groups=tuple(groups), name=name.strip() or None)

    @property
    def is_heterogeneous(self) -> bool:
        """Whether the cluster has more than one instance group."""
        return len(self.instance_groups) > 1

    @property
    def label(self) -> str:
        """What tables and charts call this cluster."""
        return self.name or ("heterogeneous" if self.is_heterogeneous else "homogeneous")

    @property
    def num_instances(self) -> int:
        """Instances of all groups."""
        return sum(group.instance_count for group in self.instance_groups)

    def hosts(self) -> dict[str, InstanceGroup]:
        """Return the group of each host: ``algo-1``, ``algo-2``, … in group order."""
        groups = [group for group in self.instance_groups for _ in range(group.instance_count)]
        return {f"algo-{number}": group for number, group in enumerate(groups, start=1)}

    def __str__(self) -> str:
        return ",".join(str(group) for group in self.instance_groups)


def _parsed_group(text: str) -> InstanceGroup:
    match = _GROUP_TEXT.fullmatch(text)
    if match is None:
        raise SpecError(
            f"Instance group {text[:80]!r} is not of the form GROUP=TYPE[:COUNT[:ROLE]"
            "[:script]]. Write for example 'data_group=ml.c5.9xlarge:1'."
        )
    said = {"role": match["role"], "runs": match["runs"]}
    values: dict[str, Any] = {name: word.strip() for name, word in said.items() if word}
    return InstanceGroup(
        match["name"].strip(), match["type"].strip(), int(match["count"] or 1), **values
    )


def needless_runs(name: str) -> str:
    """Return why a group of trainers is not told to run the script."""
    return (
        f"Instance group {name!r} has runs='script', but trains: trainers always run the "
        "script. Drop runs, or give the group role='data'."
    )


def _problems_between(groups: Sequence[object]) -> list[str]:
    """Return what is wrong with groups together, whether or not each of them is legal."""
    problems = []
    if not 1 <= len(groups) <= MAX_INSTANCE_GROUPS:
        problems.append(
            f"A cluster has {len(groups)} instance groups, but needs 1 to "
            f"{MAX_INSTANCE_GROUPS}. Add a group, or merge groups of one type."
        )
    names = [field_of(group, "instance_group_name") for group in groups]
    counts = Counter(name for name in names if isinstance(name, str))
    problems.extend(
        f"Instance group name {name[:80]!r} is used {count} times, but must be unique in a "
        "job. Rename one of them."
        for name, count in counts.items()
        if count > 1
    )
    if groups and all(field_of(group, "role") == "data" for group in groups):
        problems.append(
            f"Every instance group ({', '.join(map(repr, counts))[:200]}) has the role 'data', "
            "so nothing would train. Give one group role='train'."
        )
    return problems
