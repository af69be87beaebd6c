"""Amazon SageMaker: training jobs on instances of the user's account, through plain boto3."""
