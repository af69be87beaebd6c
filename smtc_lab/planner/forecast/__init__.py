"""What a comparison would show, before it runs, while its set-ups are still being chosen.

What is predicted is what would be launched (``launched``), in cluster time: vCPUs, devices and
worker counts, without a name, an address or a look at environments. ``forecast`` predicts
each set-up with the calibration that fits it; ``exchanges`` says what every instance type would
bring in the place of a group, all types in one call of the model. ``kept`` finds calibrations,
``effort`` says what one more would take, and ``calibrating`` is the process that makes it.
"""

from __future__ import annotations
