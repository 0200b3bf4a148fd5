import torch
from torch.utils.data import DataLoader

from project.data.ratings import Ratings
from project.models.mf import MatrixFactorization
from project.training.loop import fit

SEED = 1992


def get_device():
    if torch.cuda.is_available():
        return torch.device("cuda:0")
    return torch.device("cpu")


if __name__ == "__main__":
    torch.manual_seed(SEED)
    device = get_device()
    train_dl = DataLoader(Ratings(split="train"), batch_size=16, shuffle=True)
    valid_dl = DataLoader(Ratings(split="valid"), batch_size=16)
    fit(MatrixFactorization(20, 30), train_dl, valid_dl, device, epochs=2)
