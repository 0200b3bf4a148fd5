import torch




def pad_batch(samples, device):
    longest = max(len(tokens) for tokens, _ in samples)
    batch = torch.zeros(len(samples), longest, dtype=torch.long)
    for row, (tokens, _) in enumerate(samples):
        batch[row, : len(tokens)] = torch.tensor(tokens)
    labels = torch.tensor([label for _, label in samples])
    return batch, labels
