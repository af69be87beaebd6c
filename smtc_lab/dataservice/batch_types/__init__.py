"""Types of batches beyond containers, tensors and numbers: how each is taken apart and made."""
