"""One model on several trainers: joined, wrapped, and kept equal to one process's.

``trainers`` is what a session asks, in this order: it joins the process group, wraps the model
for DDP, FSDP2 or HSDP as the job's distribution says, and hands the script's own optimizer the
parameters that it steps from then on. The compiler comes after that: it compiles what lies
inside the wrapping, and the wrapping's hooks stay outside of compiled code (decision 107).
Gradients of microbatches are reduced once, norms are those of the whole model, and checkpoints
are those of one process, whatever layout wrote them. No object is unpickled that came from
another rank.
"""

from __future__ import annotations
