"""Leaves the loop to Lightning: a module, a data module, validation after each epoch."""


import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

warnings.filterwarnings("ignore", module="lightning")


class Points(L.LightningDataModule):
    def setup(self, stage):
        x = torch.randn(24, 3, generator=torch.Generator().manual_seed(1))
        data = TensorDataset(x, x.sum(1, keepdim=True))
        seeded = torch.Generator().manual_seed(2)
        self.train, self.valid = random_split(data, [16, 8], generator=seeded)

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=4, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.valid, batch_size=4)


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def training_step(self, batch, number):
        x, y = batch
        loss = nn.functional.mse_loss(self.layer(x), y)
        self.log("train", loss)
        return loss

    def validation_step(self, batch, number):
        x, y = batch
        self.log("valid", nn.functional.mse_loss(self.layer(x), y))

    def on_validation_epoch_end(self):
        print(f"loss {self.trainer.callback_metrics['valid'].item():.6f}")

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


if __name__ == "__main__":
    L.seed_everything(5, verbose=False)
    trainer = L.Trainer(
        max_epochs=2,
        accelerator="cpu",
        num_sanity_val_steps=1,
        logger=False,
        log_every_n_steps=1,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Model(), datamodule=Points())
