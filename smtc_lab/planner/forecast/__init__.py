"""What a comparison would show, before it runs, while its set-ups are still being chosen.

A local comparison is a scale model: all set-ups share one scale, which depends on the largest.
So what is predicted is what would be launched (``launched``): the launcher's own scale, quotas
and worker counts, without a name, an address or a look at environments. ``forecast`` predicts
each set-up with the calibration that fits it; ``exchanges`` says what every instance type would
bring in the place of a group, all types in one call of the model. ``kept`` finds calibrations,
``effort`` says what one more would take, and ``calibrating`` is the process that makes it.
"""

from __future__ import annotations
