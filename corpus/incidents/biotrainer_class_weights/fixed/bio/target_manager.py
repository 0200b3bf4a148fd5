from collections import Counter

import torch


class TargetManager:
    """Targets of all sequences, and what is known about their classes."""

    def __init__(self, number_of_outputs):
        self.number_of_outputs = number_of_outputs
        self.training_targets = torch.randint(0, number_of_outputs, (40,)).clamp_max(number_of_outputs - 1)

    def compute_class_weights(self):
        # concatenate all labels irrespective of protein to count class sizes
        counter = Counter(self.training_targets.tolist())
        # total number of samples in the set irrespective of classes
        n_samples = sum(counter[idx] for idx in range(self.number_of_outputs))
        # balanced class weighting (inversely proportional to class size)
        class_weights = [(n_samples / (self.number_of_outputs * max(counter[idx], 1)))
                         for idx in range(self.number_of_outputs)]
        return torch.FloatTensor(class_weights)
