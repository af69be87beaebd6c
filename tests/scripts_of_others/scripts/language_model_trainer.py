"""Trains a small GPT-2 with Hugging Face's Trainer, its tokenizer and its collator."""


import os

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    DataCollatorForLanguageModeling,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

WORDS = "a cat dog sat ran on under the mat tree and then".split()
vocabulary = {word: number for number, word in enumerate(["[PAD]", "[EOS]", *WORDS])}


def main():
    set_seed(42)
    core = Tokenizer(models.WordLevel(vocabulary, unk_token="[EOS]"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="[PAD]", eos_token="[EOS]"
    )
    lines = [" ".join(WORDS[i % 7 : i % 7 + 2 + i % 4]) for i in range(24)]
    samples = [tokenizer(line) for line in lines]
    config = GPT2Config(
        vocab_size=len(vocabulary), n_positions=16, n_embd=16, n_layer=1, n_head=2,
        bos_token_id=1, eos_token_id=1,
    )  # fmt: skip
    arguments = TrainingArguments(
        output_dir="out",
        num_train_epochs=2,
        per_device_train_batch_size=4,
        per_device_eval_batch_size=4,
        gradient_accumulation_steps=2,
        learning_rate=5e-3,
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=GPT2LMHeadModel(config),
        args=arguments,
        train_dataset=samples[:16],
        eval_dataset=samples[16:],
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    )
    trainer.train()
    for said in trainer.state.log_history:
        for name in ("loss", "eval_loss"):
            if name in said:
                print(f"loss {float(said[name]):.6f}")


if __name__ == "__main__":
    main()
