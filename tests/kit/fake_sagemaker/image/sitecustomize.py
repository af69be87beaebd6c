# noqa: INP001  Python loads it by its name
"""What is special about the Python of the fake's container image; loaded at its start.

Packages that an image with torch need not have cannot be imported. The names of the job's hosts
resolve, as the platform's name service would have it.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # every process of the image would import typing
    from typing import Any

_NOT_IN_THE_IMAGE = frozenset(
    {
        "IPython", "anywidget", "apsw", "boto3", "botocore", "ipykernel", "ipywidgets",
        "jupyter_server", "jupyterlab", "matplotlib", "moto", "papermill", "platformdirs",
        "psutil", "pydantic", "pynvml", "ray", "scipy",
    }
)  # fmt: skip


class _Missing:
    """Finds nothing, and lets nobody else find it."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        del path, target
        if name.partition(".")[0] in _NOT_IN_THE_IMAGE:
            raise ModuleNotFoundError(f"No module named {name!r} (in this image)", name=name)


def _know_hosts(text: str) -> None:
    import socket  # noqa: PLC0415  most processes of the image need no names

    known = dict(item.split("=") for item in text.split(","))
    plain = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  stands in for socket's own
        return plain(known.get(host, host), *args, **kwargs)

    socket.getaddrinfo = getaddrinfo


sys.meta_path.insert(0, _Missing)
if "FAKE_SAGEMAKER_HOSTS" in os.environ:
    _know_hosts(os.environ["FAKE_SAGEMAKER_HOSTS"])
