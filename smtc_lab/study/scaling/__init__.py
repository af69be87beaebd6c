"""A job on several numbers of devices: a comparison whose set-ups are ordered by them."""
