import torch
from torch.utils.data import Dataset


class RandomShapes(Dataset):
    """Noisy squares: image, mask and the name of the file it would come from."""

    def __init__(self, n, size=12):
        self.n, self.size = n, size

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        mask = torch.zeros(1, self.size, self.size)
        top, left = torch.randint(0, self.size // 2, (2,), generator=g).tolist()
        mask[:, top:top + 5, left:left + 5] = 1
        image = mask + 0.3 * torch.randn(1, self.size, self.size, generator=g)
        return image, mask, f"shape_{i:03d}.png"
