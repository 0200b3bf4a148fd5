import torch

from sentences import SentenceEncoder
from sentences.losses import SoftmaxLoss


def batches(n, size=6):
    for _ in range(n):
        premise, hypothesis = torch.randint(50, (2, size, 7))
        yield [{"input_ids": premise}, {"input_ids": hypothesis}], torch.randint(3, (size,))


if __name__ == "__main__":
    torch.manual_seed(2378)
    model = SentenceEncoder()
    train_loss = SoftmaxLoss(model=model, sentence_embedding_dimension=model.get_sentence_embedding_dimension(), num_labels=3)
    model.fit(train_objectives=[(list(batches(2)), train_loss)], epochs=2)
