"""What the benchmark notebooks beside this folder run; each measures a part, and its peers.

A notebook ``bench_NAME.ipynb`` has the parameters and the order, a folder or file here what is
measured, and ``harness`` the form of its rounds and figures. Nothing of it is in the wheel:
it runs from a clone, whose root folder is on the path of every process that it starts.
"""

from __future__ import annotations
