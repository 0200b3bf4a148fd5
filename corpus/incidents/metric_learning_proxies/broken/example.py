import torch
from torch import nn

from metric import losses, trainers


class MLP(nn.Module):
    # layer_sizes[0] is the dimension of the input, layer_sizes[-1] is that of the output
    def __init__(self, layer_sizes, final_relu=False):
        super().__init__()
        layer_list = []
        layer_sizes = [int(x) for x in layer_sizes]
        for i in range(len(layer_sizes) - 1):
            layer_list.append(nn.Linear(layer_sizes[i], layer_sizes[i + 1]))
            if i < len(layer_sizes) - 2 or final_relu:
                layer_list.append(nn.ReLU(inplace=True))
        self.net = nn.Sequential(*layer_list)

    def forward(self, x):
        return self.net(x)


torch.manual_seed(139)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# Set trunk model and embedder
trunk = MLP([12, 20], final_relu=True).to(device)
embedder = MLP([20, 6]).to(device)

# Set the loss function
loss = losses.ProxyAnchorLoss(num_classes=4, embedding_size=6)

# Set optimizers
trunk_optimizer = torch.optim.Adam(trunk.parameters(), lr=1e-3, weight_decay=1e-4)
embedder_optimizer = torch.optim.Adam(embedder.parameters(), lr=1e-3, weight_decay=1e-4)
loss_optimizer = torch.optim.SGD(loss.parameters(), lr=0.05)

models = {"trunk": trunk, "embedder": embedder}
optimizers = {"trunk_optimizer": trunk_optimizer, "embedder_optimizer": embedder_optimizer, "metric_loss_optimizer": loss_optimizer}
batches = [(torch.randn(8, 12), torch.randint(0, 4, (8,))) for _ in range(3)]

trainer = trainers.MetricLossOnly(models, optimizers, batches, {"metric_loss": loss}, data_device=device)
trainer.train(num_epochs=2)
