"""What people see: widgets, panels, tables, figures, reports.

All that knows Jupyter is here. A live view follows the files of a run and nothing else, so it
shows a run of another process or of last year in the same way (decision 26). What a browser is
told are values and binary frames of rows (22); its types and reader are made from the Python
types (74), and the same front end draws it in a notebook's widget and in JupyterLab's panels
(21, 31, 32). What has ended becomes a mime bundle that needs no kernel, no trust and no script
(23, 34). Numbers and names are written through ``format``, static figures are matplotlib, and
what a form does can be had as code.
"""

from __future__ import annotations
