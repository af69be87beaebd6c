"""A job as a file for a cluster's own scheduler: Slurm, or Kubernetes with JobSet.

Nothing is started here. ``slurm_start`` and ``pod_start`` run on the cluster, once what the
file asks for is there.
"""

from __future__ import annotations
