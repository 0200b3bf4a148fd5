import numpy
import torch
from torch import nn

numpy.float = float  # removed from NumPy 1.24
import loss as losses  # noqa: E402
import network  # noqa: E402

torch.manual_seed(0)
features = nn.Linear(12, 8).cuda()
classifier = nn.Linear(8, 3).cuda()
adversary = network.AdversarialNetwork(16, 8)
adversary = adversary.cuda()
random_layer = network.RandomLayer([8, 3], 16)
random_layer.cuda()
optimizer = torch.optim.SGD([*features.parameters(), *classifier.parameters(), *adversary.parameters()], lr=0.1)
for step in range(3):
    hidden = features(torch.rand(4, 12).cuda())
    scores = nn.functional.softmax(classifier(hidden), dim=1)
    entropy = losses.Entropy(scores)
    loss = losses.CDAN([hidden, scores], adversary, entropy, 0.5, random_layer)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
