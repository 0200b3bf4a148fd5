import torch


class CharTokenizer:
    pad_token_id = 0

    def __len__(self):
        return 28

    def encode(self, text):
        return [1 + (ord(c) - 97) % 27 for c in text.lower()]

    def __call__(self, texts, max_length):
        rows = [self.encode(t)[:max_length] for t in texts]
        ids = [r + [self.pad_token_id] * (max_length - len(r)) for r in rows]
        mask = [[1] * len(r) + [0] * (max_length - len(r)) for r in rows]
        return {'input_ids': torch.tensor(ids), 'attention_mask': torch.tensor(mask)}
