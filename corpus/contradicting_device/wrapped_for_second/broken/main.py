import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)


class Tagger(nn.Module):
    def __init__(self, words=30, tags=4, width=8):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.out = nn.Linear(width, tags)

    def forward(self, x):
        return self.out(self.embed(x))


def main():
    use_cuda = torch.cuda.is_available()
    tagger = Tagger()
    if use_cuda:
        tagger = tagger.cuda()
    tagger = nn.DataParallel(tagger, device_ids=[1])
    sentences = torch.randint(0, 30, (24, 6))
    loader = DataLoader(TensorDataset(sentences, sentences % 4), batch_size=6, shuffle=True)
    optimizer = torch.optim.SGD(tagger.parameters(), lr=0.5)
    for epoch in range(2):
        for words, tags in loader:
            if use_cuda:
                words, tags = words.cuda(), tags.cuda()
            loss = nn.functional.cross_entropy(tagger(words).flatten(0, 1), tags.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    main()
