"""What a form of set-ups is told while they are being chosen: what each of them would be.

A forecast is made of the set-ups as they are typed (``forecasting``), quickly enough for every
move of a pointer, and says itself what it is of (``info``). Its numbers come from calibrations
that are kept; where one is missing it says what making it would take, and ``calibrator`` makes
it, in a process of its own, once for all views of a process.
"""

from __future__ import annotations
