"""What happens on an instance: its agent, the entry point, the timed steps, the records.

An agent starts the processes of its instance, holds their lifelines, samples what they use, and
leaves no process behind. Each process shows its script the tree and the variables of SageMaker
and runs it as ``python script.py`` would. A ``Session`` gives a script that asks for it
dataloader, compiled step, timed loop and checkpoint; one that does not know us is timed, fed
and compiled through hooks on torch. CPU quotas begin with the first step (decision 4). A data
instance serves what trainers send of their loaders, and runs no line of the script
(``data_instance``). On SageMaker the same agent runs inside the container, and records come
home in sealed log lines (49, 51).
"""

from __future__ import annotations
