"""The Python environments as a trait, for widgets whose forms offer them."""

from __future__ import annotations

import threading
from typing import Any

import traitlets

from smtc_lab.views.environments.choices import (
    EnvironmentChoices,
    asked_choices,
    named_choices,
)
from smtc_lab.views.environments.told import environments_json
from smtc_lab.views.environments.xla_maker import XLA_MAKER
from smtc_lab.views.widgets.base import View


class EnvironmentsView(View):
    """A widget whose form offers the Python environments, and makes the one of XLA.

    It begins with their names. Each view that opens asks for more, which is told from a thread:
    every interpreter is a process to wait for.
    """

    environments = traitlets.Dict(read_only=True).tag(sync=True)
    """The Python environments of this machine with their versions of torch, and how far the
    one of XLA is; see ``smtc_lab.views.environments``."""

    _choices: EnvironmentChoices | None = None

    @property
    def environment_choices(self) -> EnvironmentChoices:
        """The environments as they were told last."""
        if self._choices is None:
            self._choices = named_choices()
        return self._choices

    def answer_environments(self, content: dict[str, Any]) -> bool:
        """Do what a browser asks for in a thread; False: it is about something else."""
        match content:
            case {"type": "environments"}:
                does = self._refresh
            case {"type": "make-xla"}:
                XLA_MAKER.start()
                does = self._tell_environments
            case _:
                return False
        XLA_MAKER.listen(self._tell_environments)
        threading.Thread(target=does, name="smtc-environments", daemon=True).start()
        return True

    def close(self) -> None:
        """Take the view away; what is being made goes on."""
        XLA_MAKER.ignore(self._tell_environments)
        super().close()

    def _tell_environments(self) -> None:
        """Tell how far the environment of XLA is, and what there is once that has ended."""
        if XLA_MAKER.making.state == "making":
            told = environments_json(self.environment_choices, XLA_MAKER.making)
            self.set_trait("environments", told)
        else:
            self._refresh()

    def _refresh(self) -> None:
        making = XLA_MAKER.making  # before: what is told as made must be among them
        self._choices = asked_choices()
        self.set_trait("environments", environments_json(self._choices, making))

    @traitlets.default("environments")
    def _first(self) -> dict[str, Any]:
        return environments_json(self.environment_choices, XLA_MAKER.making)
