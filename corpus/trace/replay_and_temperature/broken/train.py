import torch
from torch import nn

import settings
from memory import Memory


def fill(memory):
    for _ in range(40):
        obs = torch.randn(4)
        action = int(obs[:3].argmax())
        memory.push(obs, action, float(obs[3]))


def main():
    conf = settings.read()
    torch.manual_seed(conf.run.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    policy = nn.Sequential(nn.Linear(4, conf.agent.hidden), nn.ReLU(), nn.Linear(conf.agent.hidden, 3)).to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    memory = Memory(30, conf.run.seed)
    fill(memory)
    for step in range(conf.run.steps):
        batch = memory.sample(8)
        logits = policy(batch.obs)
        logp = (logits / conf.agent.temperature).log_softmax(-1)
        chosen = logp.gather(1, batch.action[:, None]).squeeze(1)
        loss = -(chosen * batch.reward.sigmoid()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, f"{loss.item():.6f}")


if __name__ == "__main__":
    main()
