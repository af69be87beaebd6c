"""The job of a form, whose device time may be one for each kind of accelerator."""

from __future__ import annotations

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.device_times import DeviceTimes
from smtc_lab.errors import CatalogError, SpecError
from smtc_lab.spec.job import TrainingJob

_SETTING = "device_step_time_s"


def typed_job(value: object) -> TrainingJob:
    """Return the job of a form.

    Args:
        value: A ``TrainingJob`` as JSON, legal or not. The device time of its emulation may be
            a text, as ``DeviceTimes`` parses it, of which it gets that of its own accelerator.

    Raises:
        SpecError: It is not legal.
    """
    emulation = value.get("emulation") if isinstance(value, dict) else None
    text = emulation.get(_SETTING) if isinstance(emulation, dict) else None
    if not (isinstance(value, dict) and isinstance(emulation, dict) and isinstance(text, str)):
        return TrainingJob.model_validate(value)
    job = TrainingJob.model_validate({**value, "emulation": {**emulation, _SETTING: None}})
    try:
        seconds = DeviceTimes.parse(text).on(job.cluster, Catalog.load())
    except CatalogError:  # whoever looks the types up says so
        return job
    except SpecError as error:
        raise SpecError(
            [f"Emulation.{_SETTING}={text[:80]!r}: {each}" for each in error.problems]
        ) from None
    declared = {**dict(job.emulation or {}), _SETTING: seconds}
    return TrainingJob.model_validate({**dict(job), "emulation": declared})
