import torch
from torch import nn

from sound.transforms import Spectrogram, TimeStretch


class Frontend(nn.Sequential):
    def __init__(self, rate):
        super().__init__(Spectrogram(n_fft=16), TimeStretch(n_freq=9, fixed_rate=rate))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.frontend = Frontend(1.3)
        self.norm = nn.BatchNorm1d(9)
        self.rnn = nn.GRU(9, 12, batch_first=True)
        self.fc = nn.Linear(12, 4)

    def forward(self, wave):
        spec = self.frontend(wave).abs().clamp_min(1e-4).log()
        _, h = self.rnn(self.norm(spec).transpose(1, 2))
        return self.fc(h[-1])


def main():
    torch.manual_seed(457)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Classifier()
    model.to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    for bg_iteration in range(4):
        waves, labels = torch.randn(4, 128), torch.randint(4, (4,))
        waves, labels = waves.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        loss = criterion(model(waves), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(bg_iteration, loss.item())


if __name__ == "__main__":
    main()
