import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader


class PatchNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.patches = nn.Conv2d(3, 8, kernel_size=4, stride=4)
        self.head = nn.Linear(8, num_classes)

    def forward(self, x):
        return self.head(self.patches(x).flatten(2).mean(-1).tanh())


class PatchImageClassifier:
    """Image classification model: fit on a dataset, saved to and loaded from one file."""

    def __init__(self, model=None, **kwargs):
        self.epochs = kwargs.pop("epochs", 2)
        self.batch_size = kwargs.pop("batch_size", 8)
        self.learning_rate = kwargs.pop("learning_rate", 1e-3)
        use_gpu = kwargs.pop("device", "gpu") == "gpu"
        self.device = torch.device("cuda") if use_gpu and torch.cuda.is_available() else torch.device("cpu")
        self.num_classes = kwargs.pop("num_classes", 3)
        self.model = model

    def fit(self, x_train, y_train):
        self.model = PatchNet(self.num_classes)
        self.model.to(self.device)
        criterion = nn.CrossEntropyLoss()
        optimizer = optim.Adam(self.model.parameters(), lr=self.learning_rate)
        train_loader = DataLoader(list(zip(x_train, y_train)), batch_size=self.batch_size, shuffle=True)
        self.model.train()
        for epoch in range(self.epochs):
            running_loss = 0.0
            for images, labels in train_loader:
                images, labels = images.to(self.device), labels.to(self.device)
                optimizer.zero_grad()
                loss = criterion(self.model(images), labels)
                loss.backward()
                optimizer.step()
                running_loss += loss.item()
            print(f"epoch {epoch}: {running_loss / len(train_loader):.4f}")
        return self

    def predict(self, x_pred):
        image_loader = DataLoader(x_pred, batch_size=self.batch_size, shuffle=False)
        self.model.eval()
        probs_predicted = []
        with torch.no_grad():
            for images in image_loader:
                images = images.to(self.device)
                output_probs = self.model(images).softmax(-1)
                probs_predicted += output_probs.tolist()
        return probs_predicted

    def save(self, filename):
        torch.save({"state": self.model.state_dict(), "num_classes": self.num_classes}, filename)

    @staticmethod
    def load(filename):
        checkpoint = torch.load(filename, map_location=torch.device("cpu"))
        model = PatchNet(checkpoint["num_classes"])
        model.load_state_dict(checkpoint["state"])
        return PatchImageClassifier(model=model, num_classes=checkpoint["num_classes"])
