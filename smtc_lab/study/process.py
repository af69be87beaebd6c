"""The process that carries out one study, so that a notebook's kernel stays free.

Started as ``python -m smtc_lab.study.process <folder>``. Its standard input is a
lifeline to the process that asked for it; a detached one has none. SIGTERM stops it. It holds
the lifelines of its runs, so however it ends, they end too.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import sys
import threading
from pathlib import Path

from smtc_lab.errors import SmtcLabError
from smtc_lab.machine.processes import signals_as_bytes
from smtc_lab.study.folder import STOPPED_BY_USER, StudyFolder, read_request
from smtc_lab.study.keeper import StudyKeeper
from smtc_lab.study.kinds import carry_out_of

PARENT_ENDED = (
    "The process that launched the {0} ended, so the {0} ended too. Start it with detach=True "
    "to let it go on."
)


def main(path: str, *, detached: bool) -> int:
    """Carry out the study in a folder."""
    folder = StudyFolder(Path(path))
    keeper = StudyKeeper(folder)
    heard_from = selectors.DefaultSelector()
    heard_from.register(signals_as_bytes(), selectors.EVENT_READ, STOPPED_BY_USER)
    if not detached:
        heard_from.register(sys.stdin, selectors.EVENT_READ, PARENT_ENDED)
    threading.Thread(target=_listen, args=(keeper, heard_from), daemon=True).start()
    # why it failed stands in its state
    with contextlib.suppress(SmtcLabError), keeper.going_on() as watch:
        request = read_request(folder)
        keeper.kind = request.kind
        keeper.conclude(carry_out_of(request.kind)(request, watch))
    return 0


def _listen(keeper: StudyKeeper, heard_from: selectors.BaseSelector) -> None:
    """Stop the study when a signal asks for it, or the lifeline ends."""
    while True:
        for key, _ in heard_from.select():
            said = os.read(key.fd, 4096)
            if key.data == PARENT_ENDED and not said:
                heard_from.unregister(key.fileobj)
                keeper.stop(PARENT_ENDED)
            elif {signal.SIGTERM, signal.SIGINT} & set(said):
                keeper.stop(STOPPED_BY_USER)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], detached="--detached" in sys.argv[2:]))
