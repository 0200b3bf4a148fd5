import torch
import torch.nn as nn

from policy import Policy


class Trainer:
    def __init__(self, state_path=None, lr=3e-3):
        cuda = torch.cuda.is_available()
        self.device = torch.device("cuda" if cuda else "cpu")
        self.policy = Policy()
        # capturable, so that the step can go into a CUDA graph
        self.optim = torch.optim.Adam(self.policy.parameters(), lr=lr, capturable=cuda)
        self.updates = 0
        if state_path is not None:
            state = torch.load(state_path, map_location="cpu")
            self.policy.load_state_dict(state["policy"])
            self.optim.load_state_dict(state["optim"])
            self.updates = state["updates"]
        self.policy.to(self.device)

    def rollout(self):
        g = torch.Generator().manual_seed(self.updates)
        obs = torch.randn(20, 4, generator=g)
        act = torch.randint(0, 3, (20,), generator=g)
        ret = obs.sum(1) * (act - 1)
        return obs.to(self.device), act.to(self.device), ret.to(self.device)

    def train(self, num_steps):
        for _ in range(num_steps):
            obs, act, ret = self.rollout()
            logp, value = self.policy(obs, act)
            adv = (ret - value).detach()
            loss = -(logp * adv).mean() + 0.5 * nn.functional.mse_loss(value, ret)
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            self.updates += 1
            print("update", self.updates, "loss", loss.item())

    def dump(self, path):
        torch.save({"policy": self.policy.state_dict(), "optim": self.optim.state_dict(),
                    "updates": self.updates}, path)
