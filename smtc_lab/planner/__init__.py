"""Predict step time and cost of clusters, search among them, and say why.

A calibration measures a workload on this machine in a series of real launches (decision 28).
The model makes of it what each stage of a step takes on another cluster, and joins the stages
by a norm whose sharpness is fitted (29). A search predicts every cluster that the catalog
allows, all with the same number of devices (30), and keeps those that no other beats in both
time and cost. Each can be explained and launched; a run is compared with its prediction as
what was launched (40). Predictions have intervals of 80 %, are never
called measured, and what was not measured is said to be unknown.
"""

from __future__ import annotations
