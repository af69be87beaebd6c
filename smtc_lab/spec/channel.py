"""A named input of a job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator

from smtc_lab.spec.base import PlainText, Strict, field_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.spec.cluster import Cluster

MAX_CHANNELS = 20
"""SageMaker's limit for one training job."""

_CHANNEL_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


class Channel(Strict):
    """A named input; an instance finds it under ``input/data/<channel_name>``."""

    channel_name: Annotated[
        str, Field(json_schema_extra={"pattern": f"^{_CHANNEL_NAME}$", "maxLength": 64})
    ]
    """1 to 64 letters, digits, ``.``, ``_`` or ``-``. Also gives ``SM_CHANNEL_<NAME>``."""

    source: Annotated[PlainText, Field(json_schema_extra={"minLength": 1})]
    """A folder of this machine; on SageMaker also ``s3://bucket/prefix``."""

    instance_group_names: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Groups that get this channel; empty: all. All channels of a job name groups, or none."""

    @field_validator("channel_name")
    @classmethod
    def _name_is_legal(cls, name: str) -> str:
        if not re.fullmatch(_CHANNEL_NAME, name):
            raise ValueError(
                f"Channel name {name[:80]!r} is not 1 to 64 letters, digits, '.', '_' or '-' "
                "that begin with a letter or digit. Rename the channel."
            )
        return name

    @field_validator("source")
    @classmethod
    def _source_is_given(cls, source: str) -> str:
        if not source.strip():
            raise ValueError(f"Channel source {source!r} is empty. Give the path of a folder.")
        return source


def channel_problems(channels: Sequence[object], cluster: Cluster | None) -> list[str]:
    """Return what is wrong with channels together, whether or not each of them is legal."""
    given = [field_of(channel, "channel_name") for channel in channels]
    names = [name for name in given if isinstance(name, str)]
    problems = []
    if len(channels) > MAX_CHANNELS:
        problems.append(
            f"A job has {len(channels)} channels, but may have {MAX_CHANNELS}. Merge some."
        )
    problems.extend(
        f"Channel name {name[:80]!r} is used {names.count(name)} times. Rename one of them."
        for name in sorted({name for name in names if names.count(name) > 1})
    )
    assigned = [channel for channel in channels if field_of(channel, "instance_group_names")]
    if 0 < len(assigned) < len(channels):
        problems.append(
            f"Only {len(assigned)} of {len(channels)} channels name instance groups. Name "
            "groups for all channels, or for none."
        )
    if cluster is not None:
        known = {group.instance_group_name for group in cluster.instance_groups}
        problems.extend(
            f"Channel {channel.channel_name!r} names the instance group {name!r}, which the "
            f"job does not have. Choose among {', '.join(sorted(known))}."
            for channel in channels
            if isinstance(channel, Channel)
            for name in sorted(set(channel.instance_group_names) - known)
        )
    return problems
