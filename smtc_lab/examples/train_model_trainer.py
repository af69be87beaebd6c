"""Trains a small language model with Hugging Face's Trainer. Knows nothing of smtc_lab."""

from __future__ import annotations

import argparse
import os

import torch
from torch.utils.data import TensorDataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

VOCABULARY = 1024


def collate(samples: list[tuple[torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Return a batch whose labels are its own tokens."""
    tokens = torch.stack([tokens for (tokens,) in samples])
    return {"input_ids": tokens, "labels": tokens}


def main() -> None:
    """Train for some steps, as scripts of the transformers library do."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()

    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=options.length,
        n_embd=128,
        n_layer=options.layers,
        n_head=4,
        bos_token_id=0,
        eos_token_id=0,
    )
    samples = options.steps * options.batch_size
    trainer = Trainer(
        model=GPT2LMHeadModel(config),
        args=TrainingArguments(
            output_dir=os.environ.get("SM_OUTPUT_DATA_DIR", "build/trainer"),
            per_device_train_batch_size=options.batch_size,
            max_steps=options.steps,
            logging_steps=10,
            save_strategy="no",
            report_to="none",
        ),
        train_dataset=TensorDataset(torch.randint(VOCABULARY, (samples, options.length))),
        data_collator=collate,
    )
    trainer.train()


if __name__ == "__main__":
    main()
