"""An instance that SageMaker has started."""
