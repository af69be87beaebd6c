"""Where to run: launchers, run handles, and how a run is stopped and cleaned up."""
