import torch
from torch.utils.data import DataLoader, TensorDataset

from models import Config, Student, Teacher
from train_eval import student_train, teacher_train


def build_iterator(n, config):
    x = torch.rand(n, 1, 8, 8)
    y = (x.mean(dim=(1, 2, 3)) * 40).long() % config.num_classes
    return DataLoader(TensorDataset(x, y), batch_size=config.batch_size)


if __name__ == '__main__':
    config = Config()
    torch.manual_seed(1)

    train_iter = build_iterator(48, config)
    dev_iter = build_iterator(16, config)

    cnn = Teacher().to(config.device)
    mlp = Student().to(config.device)

    if config.train_teacher:
        teacher_train(cnn, config, train_iter, dev_iter)
    student_train(mlp, cnn, config, train_iter, dev_iter)
