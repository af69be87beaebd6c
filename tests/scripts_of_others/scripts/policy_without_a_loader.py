"""Learns from an environment, with no dataloader: a step ends with each episode."""


import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    def reset(self):
        self.place = 2
        return self.state()

    def state(self):
        return nn.functional.one_hot(torch.tensor(self.place), 6).float()

    def step(self, action):
        self.place = max(0, self.place + (1 if action == 1 else -1))
        return self.state(), float(self.place == 5), self.place == 5


torch.manual_seed(543)
environment = Corridor()
policy = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(10):
    state, log_probs, rewards = environment.reset(), [], []
    for _ in range(20):
        choice = Categorical(logits=policy(state))
        action = choice.sample()
        log_probs.append(choice.log_prob(action))
        state, reward, done = environment.step(action.item())
        rewards.append(reward)
        if done:
            break
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.99 * total
        returns.insert(0, total - 0.1)
    loss = -(torch.stack(log_probs) * torch.tensor(returns)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.6f}")
