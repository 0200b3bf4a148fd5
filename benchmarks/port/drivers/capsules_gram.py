import capsule_network
import torch
from capsule_network import CapsuleLayer
from torch import nn
from torch.autograd import Variable

capsule_network.Variable = Variable  # the file imports it when it runs as a script
torch.manual_seed(0)
primary = CapsuleLayer(
    num_capsules=4, num_route_nodes=-1, in_channels=3, out_channels=2, kernel_size=3, stride=2
).cuda()
digits = CapsuleLayer(num_capsules=5, num_route_nodes=2 * 3 * 3, in_channels=4, out_channels=6).cuda()
optimizer = torch.optim.Adam([*primary.parameters(), *digits.parameters()])
for step in range(3):
    images = torch.rand(2, 3, 7, 7).cuda()
    labels = torch.randint(0, 5, (2,)).cuda()
    capsules = digits(primary(images)).squeeze().transpose(0, 1)
    loss = nn.functional.cross_entropy((capsules**2).sum(dim=-1), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
