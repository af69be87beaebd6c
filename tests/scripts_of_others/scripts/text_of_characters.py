"""Reads lines of unequal length, character by character, with packed sequences."""


import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

LETTERS = "abcdefgh "


class Lines(Dataset):
    def __init__(self):
        drawn = random.Random(1)
        self.lines = ["".join(drawn.choices(LETTERS, k=drawn.randint(4, 12))) for _ in range(20)]
        self.number_of = {letter: number for number, letter in enumerate(LETTERS, start=1)}

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        return torch.tensor([self.number_of[letter] for letter in self.lines[index]])


def by_length(lines):
    lines.sort(key=len, reverse=True)
    return pad_sequence(lines, batch_first=True), [len(line) for line in lines]


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS) + 1, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 16, batch_first=True)
        self.out = nn.Linear(16, len(LETTERS) + 1)

    def forward(self, text, lengths):
        packed = pack_padded_sequence(self.embed(text), lengths, batch_first=True)
        read, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(read)


torch.manual_seed(0)
loader = DataLoader(Lines(), batch_size=5, shuffle=True, collate_fn=by_length)
model = Reader()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss(ignore_index=0)
for epoch in range(2):
    for text, lengths in loader:
        said = model(text[:, :-1], [length - 1 for length in lengths])
        loss = criterion(said.transpose(1, 2), text[:, 1:])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"loss {loss.item():.6f}")
