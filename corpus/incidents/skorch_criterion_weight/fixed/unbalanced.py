import numpy as np
import torch
from torch import nn

from net import NeuralNet


class MyModule(nn.Module):
    def __init__(self, num_units=10, nonlin=nn.functional.relu):
        super(MyModule, self).__init__()
        self.dense0 = nn.Linear(6, num_units)
        self.nonlin = nonlin
        self.output = nn.Linear(num_units, 2)

    def forward(self, X):
        return self.output(self.nonlin(self.dense0(X)))


np.random.seed(455)
torch.manual_seed(455)
X = np.random.randn(40, 6).astype(np.float32)
y = (X[:, 0] > 0.9).astype(np.int64)

net = NeuralNet(
    MyModule,
    criterion=nn.CrossEntropyLoss,
    criterion__weight=torch.tensor([1.0, 5.0]),
    module__num_units=12,
    optimizer__momentum=0.9,
    max_epochs=2,
    batch_size=20,
    lr=0.1,
    device='cuda' if torch.cuda.is_available() else 'cpu',
)
net.fit(X, y)
