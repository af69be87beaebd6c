"""The job's script in a Python environment of its own: where XLA is, beside a newer torch.

Under ``auto`` a trainer that was told of such an environment (decisions 18 and 58) starts the
script there as its child (``steps``), which goes as far as the script's first step and then
takes steps on the trainer's batches (``served``), each as a message of tensors, without pickle.
If XLA is kept, the trainer becomes the script there, from its begin (``move``). ``started``
knows how the trainer itself was started.
"""

from __future__ import annotations
