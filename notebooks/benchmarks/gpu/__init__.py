"""What a machine with one NVIDIA GPU shows in a few minutes: ``make test-gpu OUT=DIR``.

This is no notebook, because such a machine may lack Jupyter and may be at hand for minutes
only. Each part runs in a process of its own and appends a row to a file for everything it
measures, so little is lost when the machine is taken away.
"""

from __future__ import annotations
