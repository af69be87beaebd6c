"""A stand-in for Amazon SageMaker: moto's server, and containers that really run.

It is a fake. It shows that a request is legal as far as is known, and that what runs in the
containers works; not that AWS accepts the one, or provides the other.
"""
