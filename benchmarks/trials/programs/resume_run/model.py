from torch import nn


class TagModel(nn.Module):
    def __init__(self, vocabulary, width, tags):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocabulary, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, tags)

    def forward(self, tokens):
        return self.head(self.norm(self.embedding(tokens)))
