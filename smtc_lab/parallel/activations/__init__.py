"""What layers keep from their forward for their backward: less of it, or in host memory.

``kept`` is what a session asks before a model is wrapped. The forward of the layers that repeat
is changed, and nothing else: ``recompute`` lets them keep their inputs alone, ``offload`` moves
what they keep into host memory. Together the inputs are moved (decision 130).
"""

from __future__ import annotations
