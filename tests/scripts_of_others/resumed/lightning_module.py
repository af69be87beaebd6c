"""Trains with Lightning, which keeps the newest checkpoint each few steps and goes on from it."""

import os
import time
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore", module="lightning")


class Points(Dataset):
    def __init__(self):
        self.x = torch.randn(48, 3, generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        time.sleep(0.02)  # reads an image
        return self.x[index], self.x[index].sum(0, keepdim=True)


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))

    def training_step(self, batch, number):
        x, y = batch
        return nn.functional.mse_loss(self.layers(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


if __name__ == "__main__":
    L.seed_everything(5, verbose=False)
    keeps = ModelCheckpoint(
        dirpath=os.environ.get("SM_CHECKPOINT_DIR", "out"),
        every_n_train_steps=5,
        save_last=True,
        save_on_train_epoch_end=False,
    )
    trainer = L.Trainer(
        max_epochs=3,
        accelerator="cpu",
        devices=1,
        logger=False,
        callbacks=[keeps],
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    loader = DataLoader(Points(), batch_size=4, shuffle=True)
    trainer.fit(Model(), loader, ckpt_path="last")
    print(f"step {trainer.global_step}")
