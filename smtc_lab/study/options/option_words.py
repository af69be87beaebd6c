"""What a refusal calls the options of a command line, which are arguments in Python."""

from __future__ import annotations

import re

from smtc_lab.catalog.trainers import PER_HOST_REMEDY
from smtc_lab.study.options.distribution_options import FIELDS

_FIELD = rf"(?:{'|'.join(FIELDS)})"
_GIVEN = re.compile(rf"(?:\bdistribution[. ])?\b({_FIELD})='?(\w+)'?(?:,(?= {_FIELD}=))?")
_UNSAID = re.compile(rf",? ?\b{_FIELD}=None\b")
_NAMED = re.compile(r"\b([Aa]dd|drop) (pipeline|microbatches)\b")


def in_options(text: str) -> str:
    """Return a refusal or a caution that calls a distribution as a command line does.

    ``distribution data=2, shard=4 asks for`` becomes ``--data 2 --shard 4 asks for``.
    """
    text = text.replace(PER_HOST_REMEDY, "")
    text = text.replace("distribution auto asks for", "--data auto asks for")
    text = _UNSAID.sub("", text)
    text = _GIVEN.sub(lambda told: f"{_option(told[1])} {told[2]}", text)
    return _NAMED.sub(lambda told: f"{told[1]} {_option(told[2])}", text)


def _option(field: str) -> str:
    return f"--{field.replace('_', '-')}"
