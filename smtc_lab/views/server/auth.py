"""Who may do what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from jupyter_server.auth.decorator import authorized

if TYPE_CHECKING:
    from collections.abc import Callable

AUTH_RESOURCE = "smtc_lab"
"""What an authorizer of the server is asked about."""

READ, EXECUTE = "read", "execute"
"""What it is asked: to look; to start and to stop."""

F = TypeVar("F", bound="Callable[..., Any]")


def authorized_to(action: str) -> Callable[[F], F]:
    """Return Jupyter's decorator for an action; it has no type of its own with one."""
    return cast("Callable[[F], F]", authorized(action))
