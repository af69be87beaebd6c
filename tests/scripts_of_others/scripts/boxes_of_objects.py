"""Collates images and their boxes to tuples, as detectors take them."""


import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        drawn = torch.Generator().manual_seed(index)
        corners = torch.rand(1 + index % 3, 2, generator=drawn) * 4
        boxes = torch.cat([corners, corners + 3], dim=1)
        image = torch.zeros(1, 8, 8)
        for left, top, right, bottom in boxes.int().tolist():
            image[:, top:bottom, left:right] = 1
        labels = torch.ones(len(boxes), dtype=torch.int64)
        return image, {"boxes": boxes, "labels": labels, "image_id": index}


def collate_fn(batch):
    return tuple(zip(*batch))


torch.manual_seed(0)
net = nn.Sequential(nn.Flatten(0), nn.Linear(64, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.001, weight_decay=5e-4)
loader = DataLoader(Scenes(), batch_size=4, shuffle=True, collate_fn=collate_fn)
for epoch in range(2):
    for images, targets in loader:
        targets = [{name: value for name, value in target.items()} for target in targets]
        assert all(isinstance(target["image_id"], int) for target in targets)
        losses = [
            nn.functional.smooth_l1_loss(net(image).expand_as(target["boxes"]), target["boxes"])
            for image, target in zip(images, targets)
        ]
        loss = sum(losses)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")
