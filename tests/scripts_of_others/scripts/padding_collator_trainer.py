"""Classifies texts with a small BERT: a collator that pads, groups by length, own metrics."""


import os

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

WORDS = "good bad fine poor film plot it was the very so".split()


class Reviews(Dataset):
    def __init__(self, tokenizer, count):
        drawn = np.random.default_rng(count)
        texts = [" ".join(drawn.choice(WORDS, drawn.integers(2, 9))) for _ in range(count)]
        self.encodings = tokenizer(texts)
        self.labels = [int("good" in text or "fine" in text) for text in texts]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        item = {name: values[index] for name, values in self.encodings.items()}
        item["labels"] = self.labels[index]
        return item


def accuracy(prediction):
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


def main():
    set_seed(7)
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["[PAD]", *WORDS])}, "[PAD]"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]")
    config = BertConfig(
        vocab_size=16, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=16, num_labels=2,
    )  # fmt: skip
    arguments = TrainingArguments(
        output_dir="out",
        num_train_epochs=2,
        per_device_train_batch_size=4,
        per_device_eval_batch_size=4,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        dataloader_num_workers=1,
    )
    trainer = Trainer(
        BertForSequenceClassification(config),
        arguments,
        train_dataset=Reviews(tokenizer, 16),
        eval_dataset=Reviews(tokenizer, 8),
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=accuracy,
    )
    trainer.train()
    assert 0 <= trainer.evaluate()["eval_accuracy"] <= 1
    for said in trainer.state.log_history:
        for name in ("loss", "eval_loss"):
            if name in said:
                print(f"loss {float(said[name]):.6f}")


if __name__ == "__main__":
    main()
