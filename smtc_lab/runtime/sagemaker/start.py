"""Starts an instance of a SageMaker job: the entry point of its container.

The channel ``smtc`` holds this file as ``start.py`` and beside it::

    source.tar.gz   smtc_lab/ (this package) and code/ (the folder of the user's script)
    job.json        the job, and what the agent of each instance is told
    secret          the job's secret, 32 random bytes

The secret is in no request, environment or log: who may only describe the job or read its log
can neither talk to its data service nor seal its record lines. Who may read the job's source in
S3 can; that is who may read the training data, too.

It must be able to say that an image is too old, so it is written for any Python 3.
"""

from __future__ import annotations

import os
import shutil
import sys
import tarfile

_LEAST_PYTHON = (3, 11)


def main() -> int:
    """Unpack the source and run the instance; return its exit code."""
    base = os.environ.get("SAGEMAKER_BASE_DIR") or "/opt/ml"
    channel = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  as plain as can be
    if sys.version_info < _LEAST_PYTHON:
        have = sys.version.split()[0]
        return _fail(
            base, f"The image has Python {have}, but 3.11 is needed. Choose a newer image."
        )
    ours = os.path.join(base, "smtc_lab")  # noqa: PTH118  as above
    shutil.rmtree(ours, ignore_errors=True)  # of a container before, on a kept instance
    source = os.path.join(ours, "source")  # noqa: PTH118  as above
    try:
        with tarfile.open(os.path.join(channel, "source.tar.gz")) as archive:  # noqa: PTH118  as above
            archive.extractall(source, filter="data")
    except (OSError, tarfile.TarError) as error:
        return _fail(
            base, f"The job's source cannot be unpacked ({error}). Launch the job again."
        )
    sys.path.insert(0, source)
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = source + os.pathsep + known if known else source
    from smtc_lab.errors import SmtcLabError  # noqa: PLC0415  it is there only now
    from smtc_lab.runtime.sagemaker.instance import run_instance  # noqa: PLC0415

    try:
        return run_instance(base=base, channel=channel, source=source)
    except SmtcLabError as error:
        return _fail(base, str(error))


def _fail(base: str, why: str) -> int:
    """Say why where people and SageMaker look."""
    sys.stderr.write(why + "\n")
    try:
        os.makedirs(os.path.join(base, "output"), exist_ok=True)  # noqa: PTH103, PTH118  as above
        with open(os.path.join(base, "output", "failure"), "w", encoding="utf-8") as file:  # noqa: PTH118, PTH123  as above
            file.write(why[:1024])
    except OSError:
        sys.stderr.write("The reason could not be written to output/failure.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
