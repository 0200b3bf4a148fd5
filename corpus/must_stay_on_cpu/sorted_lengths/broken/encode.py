import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader, Dataset


class Sequences(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return {
            "source": torch.randn(7, 3, generator=generator),
            "length": 2 + index % 6,
            "target": torch.randn(1, generator=generator),
        }


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 8, batch_first=True, bidirectional=True)
        self.score = nn.Linear(16, 1)

    def forward(self, source, length):
        length, order = length.sort(descending=True)
        packed = pack_padded_sequence(source[order], length, batch_first=True)
        states, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.score(states.mean(dim=1))[order.argsort()]


def main():
    torch.manual_seed(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = Encoder().to(device)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-2)
    for batch in DataLoader(Sequences(), batch_size=4):
        source = batch["source"].to(device)
        length = batch["length"].to(device)
        target = batch["target"]
        loss = nn.functional.mse_loss(encoder(source, length), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item())


if __name__ == "__main__":
    main()
