"""The parser of the commands of ``%smtc`` that launch nothing."""

from __future__ import annotations

import argparse
from typing import NoReturn

from smtc_lab.views.cell.cell_error import CellError
from smtc_lab.views.cell.options import LINE


class PlainParser(argparse.ArgumentParser):
    """Refuses a line with a ``CellError``, without ending the kernel.

    Args:
        prog: What is typed.
        description: What it does.
    """

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, add_help=False, allow_abbrev=False)
        self.add_argument("-h", "--help", action="store_true", help="Show this message.")

    def error(self, message: str) -> NoReturn:
        """Refuse a line."""
        raise CellError(f"{self.prog}: {message}. See {LINE} --help.")
