"""Ray itself: imported here, on use."""

from __future__ import annotations

import importlib
import importlib.util
import socket
import sys
from typing import TYPE_CHECKING, Any, cast

from smtc_lab.errors import LauncherError

if TYPE_CHECKING:
    from types import ModuleType

CLIENT_SCHEME = "ray://"

_KNOCK_LIMIT_S = 10.0
"""How long to wait for a cluster to accept a connection; Ray itself waits a minute."""


SLOW_MODULE = "rfc3987_syntax"
"""Where Jupyter is installed, Ray imports this, too, without a use for it: two thirds of the
time that its import takes, 1.3 s of a core. Who imports it does without where it is missing."""


def require_ray() -> None:
    """Find out whether Ray is installed, without importing it.

    Raises:
        LauncherError: It is not.
    """
    if importlib.util.find_spec("ray") is None:
        raise LauncherError(
            "The launcher 'ray' needs the package 'ray', which is not installed. Run: pip "
            "install 'smtc-lab[ray]'."
        )


def ray_module() -> Any:  # noqa: ANN401  a module
    """Return Ray.

    Raises:
        LauncherError: It is not installed.
    """
    require_ray()
    sys.modules.setdefault(SLOW_MODULE, cast("ModuleType", None))
    return importlib.import_module("ray")


def join_cluster(address: str) -> Any:  # noqa: ANN401  a module
    """Make this process a driver of a cluster, and return Ray.

    Authentication is Ray's own, through ``RAY_AUTH_MODE`` and its other variables.

    Args:
        address: ``HOST:PORT`` of a cluster that this machine is a node of, ``auto`` for the one
            that runs here, or ``ray://HOST:PORT`` of any other.

    Raises:
        LauncherError: Ray is not installed, or the cluster cannot be joined; says why.
    """
    ray = ray_module()
    _knock(address)
    try:
        # log_to_driver would bring each line once for every raylet of a machine, under a wrong
        # address; our own lines come with their host
        ray.init(address=address, log_to_driver=False, logging_level="warning")
    except Exception as error:  # Ray raises what it likes: a token, a version, a port
        raise LauncherError(
            f"The Ray cluster at {address!r} cannot be joined: {_first_lines(error)} Check the "
            "address ($RAY_ADDRESS; from a machine that is no node of it ray://HOST:10001), "
            "the token ($RAY_AUTH_TOKEN_PATH), and that Ray and Python are the cluster's."
        ) from error
    return ray


def _knock(address: str) -> None:
    """Find out at once whether anybody is there."""
    host, _, port = address.removeprefix(CLIENT_SCHEME).rpartition(":")
    if not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_LIMIT_S).close()
    except OSError as error:
        raise LauncherError(
            f"No Ray cluster answers at {address!r} ({error.strerror or error}). Start it with "
            "'ray start --head', correct the address, or leave it out and unset RAY_ADDRESS to "
            "try on this machine."
        ) from error


def _first_lines(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:500]}".rstrip(".") + "."
