from torch.utils.data import DataLoader

from .dataset import TagDataset


def create_dataset(config):
    return TagDataset(config)


def create_loader(dataset, batch_size, is_train):
    return DataLoader(dataset, batch_size=batch_size, num_workers=0, pin_memory=True,
                      shuffle=is_train, drop_last=is_train)
