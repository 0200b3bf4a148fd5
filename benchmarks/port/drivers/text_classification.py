import load_data
import torch


class Batch:
    def __init__(self):
        self.text = torch.randint(0, 50, (32, 12)), torch.full((32,), 12)
        self.label = torch.randint(0, 2, (32,)).float()

    def __len__(self):
        return 32


class Vocabulary:
    stoi = dict.fromkeys("This is one of the best creation Nolan. I can say, it's his magnum opus. Loved soundtrack and".split(), 3)


class Text:
    vocab = Vocabulary

    @staticmethod
    def preprocess(sentence):
        return [word for word in sentence.split() if word in Vocabulary.stoi]


torch.manual_seed(0)
load_data.load_dataset = lambda: (Text, 50, torch.rand(50, 300), [Batch()], [Batch()], [Batch()])
import main
