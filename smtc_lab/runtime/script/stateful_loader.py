"""Lets a script that imports torchdata's ``StatefulDataLoader`` find one made of ours."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from smtc_lab.runtime.script.after_import import after_import

if TYPE_CHECKING:
    from smtc_lab.dataservice.dataloader import DataLoader

_MODULE = "torchdata.stateful_dataloader.stateful_dataloader"


def replace_stateful_loader(replacement: type[DataLoader[Any]]) -> None:
    """Replace torchdata's class now, or when the script imports it.

    Args:
        replacement: What has taken the place of torch's own dataloader.
    """

    def replace() -> None:
        from smtc_lab.dataservice.stateful import stateful  # noqa: PLC0415  most scripts do without

        made = stateful(replacement)
        made.__module__ = _MODULE  # where pickles look for it
        sys.modules[_MODULE].__dict__["StatefulDataLoader"] = made

    if _MODULE in sys.modules:
        replace()
    else:
        after_import(_MODULE, replace)
