"""What is installed where an interpreter looks for modules.

Also run as a file by interpreters of other environments, of any Python from 3.7 on, so it has
nothing but the standard library, and none of what is new in it.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from importlib.machinery import PathFinder

_DISTRIBUTION = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._]*)-([0-9][^-]*)(?:-.*)?\.(?:dist|egg)-info"
)


def installed_packages(folders: list[str]) -> dict[str, str]:
    """Return the version of each distribution in some folders, by its normalized name.

    Read from the names of the metadata's folders alone, so hundreds take a millisecond. As at
    an import, the first folder that has a distribution counts.

    Args:
        folders: Where modules are looked for, as in ``sys.path``.
    """
    found: dict[str, str] = {}
    for folder in folders:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208  names are all that is asked for
        except OSError:  # a zip file, or nothing at all
            continue
        for name in sorted(names):
            match = _DISTRIBUTION.fullmatch(name)
            if match:
                found.setdefault(re.sub(r"[._-]+", "-", match.group(1)).lower(), match.group(2))
    return dict(sorted(found.items()))


def facts(modules: list[str]) -> dict[str, object]:
    """Return what this interpreter is, as JSON can hold it.

    Args:
        modules: Names of modules to look for.
    """
    return {
        "python": platform.python_version(),
        "version": list(sys.version_info[:2]),
        "implementation": platform.python_implementation(),
        "packages": installed_packages(sys.path[1:]),
        "missing": [name for name in modules if PathFinder.find_spec(name) is None],
    }


if __name__ == "__main__":
    print(json.dumps(facts(sys.argv[1:])))  # noqa: T201  the answer
