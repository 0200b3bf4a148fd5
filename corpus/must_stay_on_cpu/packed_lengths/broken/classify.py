import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Classifier(nn.Module):
    def __init__(self, vocabulary=20, dim=8, classes=3):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, classes)

    def forward(self, tokens, lengths):
        embedded = self.embedding(tokens)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)
        return self.out(hidden[-1])


torch.manual_seed(0)
data = TensorDataset(torch.randint(0, 20, (24, 6)), torch.randint(1, 7, (24,)), torch.randint(0, 3, (24,)))
model = Classifier().to(device)
optimizer = torch.optim.Adam(model.parameters())
for batch in DataLoader(data, batch_size=8):
    tokens, lengths, labels = [t.to(device) for t in batch]
    loss = nn.functional.cross_entropy(model(tokens, lengths), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
