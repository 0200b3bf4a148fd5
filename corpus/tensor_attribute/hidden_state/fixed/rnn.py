import torch
import torch.nn as nn


class Stateful(nn.Module):
    def __init__(self, batch, hidden):
        super().__init__()
        self.batch, self.hidden = batch, hidden
        self.reset_state()

    def reset_state(self):
        self.register_buffer("state", torch.zeros(1, self.batch, self.hidden), persistent=False)


class CharRNN(Stateful):
    def __init__(self, vocab, batch=4, hidden=8):
        super().__init__(batch, hidden)
        self.embed = nn.Embedding(vocab, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, vocab)

    def forward(self, ids):
        out, state = self.gru(self.embed(ids), self.state)
        self.state = state.detach()
        return self.fc(out)


def main():
    torch.manual_seed(6)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = CharRNN(9).to(device)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    text = torch.randint(0, 9, (4, 25))
    for start in range(0, 20, 5):
        ids = text[:, start : start + 5].to(device)
        target = text[:, start + 1 : start + 6].to(device)
        loss = criterion(net(ids).reshape(-1, 9), target.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(start, loss.item())


main()
