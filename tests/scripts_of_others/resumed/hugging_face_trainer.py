"""Fine-tunes with Hugging Face's Trainer on spot instances, as the guides for SageMaker say."""

import argparse
import os
import time

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
from transformers import Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

import torch
from torch import nn
from torch.utils.data import Dataset


class Reviews(Dataset):
    def __init__(self, count):
        self.words = torch.randint(50, (count, 12), generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        time.sleep(0.02)  # tokenizes
        words = self.words[index]
        return {"words": words, "labels": words.sum() % 2}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.EmbeddingBag(50, 16)
        self.dropout = nn.Dropout(0.2)
        self.layer = nn.Linear(16, 2)

    def forward(self, words, labels=None):
        logits = self.layer(self.dropout(self.embedding(words)))
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--checkpoints", default=os.environ.get("SM_CHECKPOINT_DIR", "out"))
    args = parser.parse_args()
    torch.manual_seed(0)
    trainer = Trainer(
        Classifier(),
        TrainingArguments(
            output_dir=args.checkpoints,
            num_train_epochs=args.epochs,
            per_device_train_batch_size=4,
            learning_rate=1e-2,
            warmup_steps=4,
            save_strategy="steps",
            save_steps=5,
            save_total_limit=2,
            logging_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=Reviews(48),
    )
    last = get_last_checkpoint(args.checkpoints) if os.path.isdir(args.checkpoints) else None
    trainer.train(resume_from_checkpoint=last)
    print(f"step {trainer.state.global_step}, from {last and os.path.basename(last)}")
