"""Trains a small model of its own with Hugging Face's Trainer, evaluated after each epoch."""


import os

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
from transformers import PrinterCallback, Trainer, TrainingArguments  # which import torch

import torch
from torch import nn
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.x = torch.randn(count, 3, generator=generator)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return {"x": self.x[index], "labels": self.x[index].sum()}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x, labels=None):
        out = self.layer(x).squeeze(-1)
        return {"loss": nn.functional.mse_loss(out, labels), "logits": out}


def main():
    torch.manual_seed(0)
    arguments = TrainingArguments(
        output_dir="out",
        num_train_epochs=2,
        per_device_train_batch_size=4,
        per_device_eval_batch_size=4,
        eval_strategy="epoch",
        save_strategy="no",
        logging_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        seed=0,
    )
    trainer = Trainer(Model(), arguments, train_dataset=Words(16, 1), eval_dataset=Words(8, 2))
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    for said in trainer.state.log_history:
        if "eval_loss" in said:
            print(f"loss {said['eval_loss']:.6f}")


if __name__ == "__main__":
    main()
