"""A named input of a job."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field, field_validator

from smtc_lab.spec.base import PlainText, Strict

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
