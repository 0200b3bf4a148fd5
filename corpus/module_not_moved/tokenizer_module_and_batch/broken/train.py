import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class SoftTokenizer(nn.Module):
    def __init__(self, n_tokens, dim):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, dim)
        self.pos = nn.Parameter(torch.zeros(1, 12, dim))

    def forward(self, chars):
        return (self.embed(chars) + self.pos).view(chars.size(0), 6, -1)


class Classifier(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(dim, 2, 16, dropout=0.0, batch_first=True)
        self.fc = nn.Linear(dim, 2)

    def forward(self, x):
        return self.fc(self.layer(x).mean(1))


torch.manual_seed(77)
chars = torch.randint(0, 20, (40, 12))
label = (chars[:, 0] > 9).long()
train_dl = DataLoader(TensorDataset(chars, label), batch_size=10)
tokenizer = SoftTokenizer(20, 4)
model = Classifier(8).cuda() if torch.cuda.is_available() else Classifier(8)
optim = torch.optim.Adam([*tokenizer.parameters(), *model.parameters()], lr=1e-3)
for chars, label in train_dl:
    if torch.cuda.is_available():
        chars = chars.cuda()
    logits = model(tokenizer(chars))
    loss = nn.functional.cross_entropy(logits, label)
    optim.zero_grad()
    loss.backward()
    optim.step()
    print(loss.item())
