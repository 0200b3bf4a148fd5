import torch
import torch.nn.functional as F

from geo import GraphConvolution

torch.manual_seed(9)


class Data(object):
    def __init__(self, x, edge_index, y):
        self.x, self.edge_index, self.y = x, edge_index, y
        self.train_mask = torch.rand(x.size(0)) < 0.6

    def to(self, device):
        for key, item in self.__dict__.items():
            self.__dict__[key] = item.to(device)
        return self


class Net(torch.nn.Module):
    def __init__(self, num_features, num_classes):
        super(Net, self).__init__()
        self.conv1 = GraphConvolution(num_features, 16)
        self.conv2 = GraphConvolution(16, num_classes)

    def forward(self, data):
        x = F.relu(self.conv1(data.x, data.edge_index))
        x = F.dropout(x, training=self.training)
        x = self.conv2(x, data.edge_index)
        return F.log_softmax(x, dim=1)


device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
data = Data(torch.rand(40, 12), torch.randint(40, (2, 160)), torch.randint(3, (40, ))).to(device)
model = Net(12, 3).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

for epoch in range(1, 5):
    model.train()
    optimizer.zero_grad()
    loss = F.nll_loss(model(data)[data.train_mask], data.y[data.train_mask])
    loss.backward()
    optimizer.step()
    print('Epoch: {:02d}, Loss: {:.4f}'.format(epoch, loss.item()))
