"""How the CPU time of an emulated instance is held to its vCPUs, together and each."""
