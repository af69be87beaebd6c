"""Asks the real toolkit for the variables of trees; run by a Python that has it installed.

Reads a JSON list of {base, job_name, num_cpus, num_gpus} from standard input, and writes the
list of ``Environment().to_env_vars()`` as the last line of standard output.
"""

from __future__ import annotations

import importlib
import json
import os
import sys


def environment_of_tree(tree: dict[str, object]) -> dict[str, str]:
    os.environ["SAGEMAKER_BASE_DIR"] = str(tree["base"])
    os.environ["TRAINING_JOB_NAME"] = str(tree["job_name"])

    from sagemaker_training import environment

    importlib.reload(environment)  # it reads the base folder when it is imported
    # The toolkit counts the cores and GPUs of the machine that it runs on. Of an instance that
    # is only a share of this machine both are wrong, and golden files must not depend on where
    # they were made.
    environment.num_cpus = lambda: tree["num_cpus"]
    environment.num_gpus = lambda: tree["num_gpus"]
    variables: dict[str, str] = environment.Environment().to_env_vars()
    return variables


def main() -> None:
    outside = dict(os.environ)
    answers = []
    for tree in json.load(sys.stdin):
        answers.append(environment_of_tree(tree))
        os.environ.clear()  # Environment() itself leaves variables behind
        os.environ.update(outside)
    sys.stdout.write(f"\n{json.dumps(answers)}\n")


if __name__ == "__main__":
    main()
