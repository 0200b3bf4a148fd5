import numpy as np
import torch
import torch.nn as nn

from losses import GlobalMutualInformationLoss, LocalMutualInformationLoss


class InfoGraphEncoder(nn.Module):

    def __init__(self, num_features, embedding_dim):
        super().__init__()
        self.lin = nn.Sequential(nn.Linear(num_features, embedding_dim), nn.ReLU())
        self.local_head = nn.Linear(embedding_dim, embedding_dim)
        self.global_head = nn.Linear(embedding_dim, embedding_dim)
        self.prior_head = nn.Linear(embedding_dim, embedding_dim)

    def forward(self, node_features, graph_index, num_graphs):
        nodes = self.lin(node_features)
        pooled = torch.zeros(num_graphs, nodes.size(1), device=nodes.device)
        pooled = pooled.index_add(0, graph_index, nodes)
        return self.local_head(nodes), self.global_head(pooled), self.prior_head(pooled)


class InfoGraphModel:

    def __init__(self, num_features, embedding_dim=8, learning_rate=0.001, device=None):
        if device is None:
            device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
        self.device = device
        self.model = InfoGraphEncoder(num_features, embedding_dim).to(device)
        self.localloss = LocalMutualInformationLoss()._create_pytorch_loss()
        self.globalloss = GlobalMutualInformationLoss()._create_pytorch_loss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=learning_rate)

    def _prepare_batch(self, graphs):
        features = np.concatenate(graphs)
        index = np.repeat(np.arange(len(graphs)), [len(g) for g in graphs])
        return (torch.from_numpy(features).float().to(self.device), torch.from_numpy(index).long().to(self.device), len(graphs))

    def fit(self, dataset, nb_epoch=1):
        averages = []
        for _ in range(nb_epoch):
            for graphs in dataset:
                inputs = self._prepare_batch(graphs)
                local_enc, global_enc, prior = self.model(*inputs)
                loss = self.localloss(local_enc, global_enc, inputs[1]) + 0.1 * self.globalloss(prior, global_enc)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                averages.append(loss.item())
        return averages


if __name__ == '__main__':
    np.random.seed(123)
    torch.manual_seed(123)
    dataset = [[np.random.rand(np.random.randint(3, 6), 5) for _ in range(4)] for _ in range(2)]
    print(InfoGraphModel(5).fit(dataset, nb_epoch=2))
