"""Where to run: launchers, run handles, and how a run is stopped and cleaned up.

The package is also the public function ``smtc_lab.launch(job, on="local")``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtc_lab.launch.run import Run


class _CallablePackage(ModuleType):
    """Lets ``smtc_lab.launch`` be a folder of this package and a function of its users."""

    def __call__(self, *args: Any, **kwargs: Any) -> Run:  # noqa: ANN401  passed on as it is
        """Start a run and return at once; see ``smtc_lab.launch.run.launch``."""
        from smtc_lab.launch.run import launch  # noqa: PLC0415  the package stays light

        return launch(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage
