"""What is right for each script of others, wherever it runs."""

from __future__ import annotations

from typing import NamedTuple


class Expected(NamedTuple):
    """What is right for a script."""

    steps: int
    """Optimizer steps."""

    samples: int | None
    """Samples in all steps; None: its batches do not tell."""

    served: int
    """Batches that the data instance must prepare."""

    local: int = 0
    """Batches that the trainer prepares itself."""

    needs: str = "torch"
    """Package without which it cannot run."""

    is_quick: bool = False
    """Whether it is one of those few that stand for all others in every test run."""

    environment: tuple[tuple[str, str], ...] = ()
    """Variables of the job."""

    logged: tuple[tuple[str, int], ...] = ()
    """Metrics that its own loggers are given, and how many values of each."""


OFFLINE = (("HF_HUB_OFFLINE", "1"),)

EXPECTED = {
    "accelerate_loop": Expected(4, 32, 14, needs="accelerate", environment=OFFLINE),
    "arrow_after_training": Expected(8, 32, 8, local=4, is_quick=True),
    "autoencoder": Expected(8, 64, 10),
    "batches_of_many_types": Expected(8, None, 8),
    "boxes_of_objects": Expected(8, None, 8),
    "compiles_by_itself": Expected(8, 32, 8),
    "cross_validation": Expected(24, 96, 36),
    "dataset_after_training": Expected(8, 32, 12),
    "dataset_turned_to_evaluation": Expected(8, 32, 16),
    "distributed": Expected(8, 48, 8),
    "endless_cycle": Expected(9, 30, 12),
    "gan": Expected(8, 64, 8),
    "generic_loader": Expected(8, 32, 8),
    "gradient_checkpointing": Expected(8, 64, 16),
    "gradients_by_hand": Expected(8, 32, 8),
    "graphs_of_a_class": Expected(8, None, 8),
    "head_then_all": Expected(8, 32, 8),
    "hugging_face_trainer": Expected(
        8, 32, 12, needs="transformers", environment=OFFLINE, logged=(("eval_loss", 2),)
    ),
    "image_classifier": Expected(8, 48, 8, needs="torchvision"),
    "language_model_trainer": Expected(
        4,
        32,
        12,
        needs="transformers",
        is_quick=True,
        environment=OFFLINE,
        logged=(("loss", 4), ("learning_rate", 4), ("eval_loss", 2)),
    ),
    "lbfgs": Expected(6, 120, 6),
    "lightning_module": Expected(
        8, 32, 13, needs="lightning", logged=(("train", 8), ("valid", 2))
    ),
    "loader_for_each_epoch": Expected(12, 48, 12),
    "loader_in_a_thread": Expected(8, 32, 8, is_quick=True),
    "mapped_file": Expected(8, 64, 8),
    "mixed_precision": Expected(8, 48, 8),
    "moving_average": Expected(8, 48, 16),
    # the batch that it looks at before counts for its first step: decision 92
    "next_in_a_while_loop": Expected(11, 48, 12),
    "own_exception": Expected(7, 28, 8),
    "padding_collator_trainer": Expected(8, 32, 14, needs="transformers", environment=OFFLINE),
    "policy_without_a_loader": Expected(10, 0, 0),
    "replay_buffer": Expected(6, 24, 6),
    "rows_of_a_database": Expected(8, 32, 8),
    "sounds": Expected(8, 48, 8),
    # the second rank is a process of the script's own: its batches are torch's
    "starts_its_second_rank": Expected(8, 32, 8, is_quick=True),
    "split_after_training": Expected(8, 32, 12),
    "stateful_loader": Expected(8, 32, 11, needs="torchdata"),
    "tar_stream": Expected(12, 48, 12, is_quick=True),
    "tensorboard_writer": Expected(
        8,
        32,
        8,
        needs="tensorboard",
        logged=(("loss/train", 8), ("loss/valid", 2), ("both/a", 2), ("both/b", 2)),
    ),
    "text_of_characters": Expected(8, 40, 8),
    "told_by_rank": Expected(16, 128, 16, is_quick=True),
    "two_loaders_zipped": Expected(8, 96, 16),
    "two_views": Expected(8, 64, 8),
    "validation_after_training": Expected(8, 32, 14, is_quick=True),
    "wandb_run": Expected(8, 32, 8, needs="wandb", logged=(("train/loss", 8), ("epoch", 2))),
    "webdataset_shards": Expected(12, 48, 12, needs="webdataset"),
    "weighted_sampler": Expected(14, 96, 14),
}
