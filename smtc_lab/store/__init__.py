"""Records of a run, kept as they come, and read while they grow.

A run is a folder that can be copied as it is (decision 1). Each process that records writes one
SQLite file of its own, in the background, a table for each class of records; where the standard
library is all there is, it writes sealed lines of text that become such files later (49, 51). A
killed writer loses no more than its last tenth of a second, and a reader sees a growing file at
any time. The state is one small file, replaced as a whole; whoever reads it after the
supervisor is gone writes the last word. Columns are made by SQL, also of long runs, so that
memory stays bounded (26, 68).
"""

from __future__ import annotations
