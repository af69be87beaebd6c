"""How a run is watched over and ended, and its last word written."""
