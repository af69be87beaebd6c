"""How a job grows with its devices: efficiencies, what is lost to what, the knee."""
