"""How ``auto`` finds the fastest backend, and gives up on one that fails."""
