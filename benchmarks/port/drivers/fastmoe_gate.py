import sys
from pathlib import Path
from types import ModuleType

import torch

package = ModuleType("gates")  # the package's other gates need its CUDA extension
package.__path__ = [str(Path(__file__).resolve().parent / "gates")]
sys.modules["gates"] = package
from gates.naive_gate import NaiveGate  # noqa: E402

torch.manual_seed(0)
gate = NaiveGate(8, 4, 1).cuda()
expert = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD([*gate.parameters(), *expert.parameters()], lr=0.1)
for step in range(3):
    tokens = torch.rand(5, 8).cuda()
    index, score = gate(tokens)
    loss = (expert(tokens) * score.sum(1, keepdim=True)).pow(2).mean() + gate.get_loss().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
