"""What a tuning job searches, by SageMaker's names: ranges, strategy, when it ends."""
