"""Growing runs as columns, for whoever looks at them, with neither Jupyter nor torch.

A ``RunFollower`` reads the files of one run, also of another process, as they grow. It keeps
what was recorded as columns, of which ``metrics`` makes every number, and as tables whose
memory is bounded, which a ``Stream`` sends on in frames to whoever has joined. Nothing here has
words for people: what is described, watched for Jupyter or compared is in ``views``.

Decision 68 has why all arithmetic works on columns.
"""

from __future__ import annotations
