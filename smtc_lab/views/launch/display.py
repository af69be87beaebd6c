"""Where a launch is shown: in a notebook or a terminal, to somebody who may click or not."""

from __future__ import annotations

import importlib


def display_bundle(bundle: dict[str, str]) -> None:
    """Show a mime bundle in the cell that runs; in a terminal, print its text."""
    importlib.import_module("IPython.display").display(bundle, raw=True)


def takes_clicks() -> bool:
    """Return whether somebody may click: papermill and nbconvert run cells for nobody.

    They say that they take no input, and would keep a button for ever.
    """
    shell = importlib.import_module("IPython").get_ipython()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return False
    return bool(kernel.get_parent().get("content", {}).get("allow_stdin"))
