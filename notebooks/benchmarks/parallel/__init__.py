"""A model in stages: where it is cut, whether its gradients are right, what that costs."""
