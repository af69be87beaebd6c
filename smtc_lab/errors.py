"""Every exception that smtc_lab raises on purpose.

    SmtcLabError
    ├── SpecError            a job that cannot be run as written (also a ValueError)
    ├── CatalogError         an instance type or a price that is not known (also a LookupError)
    ├── LauncherError        a run that could not be started, found or stopped
    │   └── InstanceLostError an instance of it of which nothing can be heard any more
    ├── RunFailedError       a run that ended other than Completed
    ├── StoreError           a run folder that cannot be read or written
    │   ├── UnsafeFileError  a file of it that is no plain file (also an OSError)
    │   └── NewerSchemaError a file of it that a newer version wrote
    ├── PythonEnvironmentError an environment that is not there, or cannot run a job
    ├── PlannerError         a workload that cannot be calibrated, or a plan that cannot be made
    ├── ViewError            something that cannot be shown
    ├── EntryPointError      a script that asks the session for something it cannot have
    │   └── CompilerError    a training step that a backend cannot compile or run
    └── DataServiceError     batches that could not be delivered
        ├── SampleError      the dataset, a transform or collate_fn raised
        ├── DataWorkerError  data workers that end or take too long (also a RuntimeError)
        ├── UnsendableError  a loader of which data servers cannot have what they need
        ├── DatasetChangedError a dataset that changes while its batches are made elsewhere
        ├── ProtocolError    bytes from the network that are not ours
        └── HandshakeError   a peer that does not hold the job's secret

Each message says what is wrong, the value, and what to do.
"""

from __future__ import annotations

from smtc_lab.neutral_text import neutral


class SmtcLabError(Exception):
    """The base of every error that smtc_lab raises on purpose.

    Its text has nothing in it that a terminal or a reader would obey, whatever it quotes.
    """

    def __str__(self) -> str:
        return neutral(super().__str__())


class SpecError(SmtcLabError, ValueError):
    """A job that cannot be run as written.

    ``problems`` holds every problem that was found, not only the first one.
    """

    def __init__(self, problems: str | list[str]) -> None:
        self.problems: list[str] = [problems] if isinstance(problems, str) else list(problems)
        """One message for each problem: what is wrong, the value, what to do."""
        super().__init__("\n".join(self.problems))


class CatalogError(SmtcLabError, LookupError):
    """An instance type or a price that the catalog does not hold."""

    def __str__(self) -> str:  # LookupError keeps a message as it is; KeyError would quote it
        return neutral(str(self.args[0]))


class LauncherError(SmtcLabError):
    """A run that could not be started, found or stopped."""


class InstanceLostError(LauncherError):
    """An instance of which nothing can be heard any more: of a spot job an interruption."""


class RunFailedError(SmtcLabError):
    """A run that ended other than ``Completed``."""


class StoreError(SmtcLabError):
    """A run folder that cannot be read or written."""


class UnsafeFileError(StoreError, OSError):
    """A file of a folder that is not opened: a link, a pipe, or far too long."""


class NewerSchemaError(StoreError):
    """What a newer smtc_lab wrote."""


class PythonEnvironmentError(SmtcLabError):
    """A Python environment that is not there, cannot be made, or cannot run a job."""


class PlannerError(SmtcLabError):
    """A workload that cannot be calibrated, or a plan that cannot be made."""


class ViewError(SmtcLabError):
    """Something that cannot be shown."""


class EntryPointError(SmtcLabError):
    """A training script that asks the session for something it cannot have."""


class CompilerError(EntryPointError):
    """A training step that a compiler backend cannot compile or run.

    Names the backend, the cause, the line of the script where one is to blame, and the next
    step: another backend, another setting, or ``fallback="eager"``.
    """


class DataServiceError(SmtcLabError):
    """Batches that could not be delivered."""


class SampleError(DataServiceError):
    """The dataset, a transform or ``collate_fn`` raised while a batch was made."""


class DataWorkerError(DataServiceError, RuntimeError):
    """Data workers ended, or did not answer in time; a ``RuntimeError``, as torch's is."""


class UnsendableError(DataServiceError):
    """A loader of which data servers cannot have what they need."""


class DatasetChangedError(DataServiceError):
    """A dataset that changes while its batches are made elsewhere; the text says what of it."""


class ProtocolError(DataServiceError):
    """Bytes from the network that are not a message of the data service."""


class HandshakeError(DataServiceError):
    """A peer that did not prove that it holds the job's secret."""
