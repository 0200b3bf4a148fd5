import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap


def net():
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))


class Ensemble:
    def __init__(self, make, size):
        members = [make() for _ in range(size)]
        self.template = make()
        state = stack_module_state(members)
        self.params, self.buffers = ({k: v.detach() for k, v in part.items()} for part in state)

    def leaves(self):
        for value in self.params.values():
            yield value.requires_grad_()

    def to(self, device):
        self.template = self.template.to(device)
        self.params = {k: v.to(device) for k, v in self.params.items()}
        return self

    def __call__(self, x):
        def one(params, buffers):
            return functional_call(self.template, (params, buffers), (x,))

        return vmap(one)(self.params, self.buffers)


def main():
    torch.manual_seed(55)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    ensemble = Ensemble(net, 3).to(device)
    optimizer = torch.optim.SGD(ensemble.leaves(), lr=0.1)
    for step in range(5):
        x = torch.randn(12, 3).to(device)
        out = ensemble(x)
        loss = (out - x.mean(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


main()
