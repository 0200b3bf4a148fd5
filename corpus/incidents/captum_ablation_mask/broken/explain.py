import torch
import torch.nn as nn

from attr.feature_ablation import FeatureAblation


class TitanicSimpleNNModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(7, 12)
        self.sigmoid1 = nn.Sigmoid()
        self.linear2 = nn.Linear(12, 2)

    def forward(self, x):
        return self.linear2(self.sigmoid1(self.linear1(x)))


torch.manual_seed(1)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
train_features = torch.randn(24, 7)
train_labels = (train_features[:, 1] - train_features[:, 4] > 0).long()

net = TitanicSimpleNNModel().to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
input_tensor = train_features.to(device)
label_tensor = train_labels.to(device)

ablator = FeatureAblation(net)
for epoch in range(4):
    output = net(input_tensor)
    loss = criterion(output, label_tensor)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attr = ablator.attribute(input_tensor, target=label_tensor, perturbations_per_eval=3)
    most = attr.abs().mean(0).argmax().item()
    print("Epoch {}/4 => Loss: {:.2f}, most important feature: {}".format(epoch + 1, loss.item(), most))
