"""Objects of types that nobody knows: pickled where the peer is trusted, else refused.

What is unpickled may run any code. A trainer trusts the data workers that it has forked itself,
as torch does; data servers only where its user says so.
"""

from __future__ import annotations

import pickle

from smtc_lab.errors import DataServiceError, ProtocolError

ALLOW = (
    "allow_pickle=True (for a script as it is: DATASERVICE_ALLOW_PICKLE=1 in the job's "
    "environment), which lets whoever controls a data instance run code in the trainer"
)


def encode_pickle(value: object, buffers: list[memoryview]) -> list[object]:
    """Return the description of an object, and append its pickle.

    Raises:
        DataServiceError: It cannot be pickled.
    """
    try:
        data = pickle.dumps(value, protocol=5)
    except Exception as error:
        raise cannot_be_sent(value, f", nor pickled ({error})") from error
    buffers.append(memoryview(data))
    return ["p", len(data)]


def unpickled(data: bytes, *, is_allowed: bool) -> object:
    """Return the object of a pickle, if what comes over the connection may be unpickled.

    Raises:
        ProtocolError: It may not, or it is no pickle.
    """
    if not is_allowed:
        raise ProtocolError(
            f"A message holds a pickle of {len(data)} bytes, which this process did not ask "
            f"for. Leave such objects out of the batch, or use {ALLOW}."
        )
    try:
        return pickle.loads(data)  # noqa: S301  whoever sent it is trusted
    except Exception as error:
        raise ProtocolError(
            f"A pickle of a batch cannot be read ({type(error).__name__}: {error}). Install "
            "the same packages on all instances."
        ) from error


def cannot_be_sent(value: object, also: str = "") -> DataServiceError:
    """Return what is raised for an object of a type that nobody knows."""
    kind = type(value)
    return DataServiceError(
        f"The batch holds a {kind.__module__}.{kind.__qualname__}, which cannot be sent{also}. "
        "Return tensors, arrays, numbers and text in dicts, lists and tuples from the dataset "
        "and collate_fn, or set num_workers=0 and use no data servers; or tell how it travels "
        f"with smtc_lab.dataservice.register_type; or use {ALLOW}."
    )
