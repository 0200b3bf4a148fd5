import torch
import torch.nn as nn


class Config(object):
    def __init__(self):
        self.device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
        self.num_classes = 4
        self.num_epochs = 1
        self.batch_size = 16
        self.learning_rate = 1e-2
        self.train_teacher = 1


class Teacher(nn.Module):
    def __init__(self):
        super(Teacher, self).__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        out = torch.relu(self.conv(x))
        out = out.flatten(2).mean(-1)
        return self.fc(out)


class Student(nn.Module):
    def __init__(self):
        super(Student, self).__init__()
        self.fc = nn.Sequential(nn.Linear(64, 12), nn.ReLU(), nn.Linear(12, 4))

    def forward(self, x):
        return self.fc(x.view(x.size(0), -1))
