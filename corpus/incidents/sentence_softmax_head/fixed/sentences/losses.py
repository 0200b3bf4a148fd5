from typing import Dict, Iterable

import torch
from torch import Tensor, nn

from .encoder import SentenceEncoder


class SoftmaxLoss(nn.Module):
    def __init__(self, model: SentenceEncoder, sentence_embedding_dimension: int, num_labels: int):
        super(SoftmaxLoss, self).__init__()
        self.model = model
        self.num_labels = num_labels
        self.classifier = nn.Linear(3 * sentence_embedding_dimension, num_labels, device=model.device)
        self.loss_fct = nn.CrossEntropyLoss()

    def forward(self, sentence_features: Iterable[Dict[str, Tensor]], labels: Tensor):
        reps = [self.model(sentence_feature)["sentence_embedding"] for sentence_feature in sentence_features]
        rep_a, rep_b = reps
        vectors_concat = [rep_a, rep_b, torch.abs(rep_a - rep_b)]
        features = torch.cat(vectors_concat, 1)
        output = self.classifier(features)
        return self.loss_fct(output, labels.view(-1))
