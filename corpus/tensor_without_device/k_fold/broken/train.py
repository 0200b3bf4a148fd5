import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
features = torch.randn(30, 4)
labels = features.sum(1, keepdim=True)


def get_k_fold_data(k, i, X, y):
    size = X.shape[0] // k
    X_train, y_train = None, None
    for j in range(k):
        idx = slice(j * size, (j + 1) * size)
        X_part, y_part = X[idx, :], y[idx]
        if j == i:
            X_valid, y_valid = X_part, y_part
        elif X_train is None:
            X_train, y_train = X_part, y_part
        else:
            X_train = torch.cat([X_train, X_part], 0)
            y_train = torch.cat([y_train, y_part], 0)
    return X_train, y_train, X_valid, y_valid


for i in range(3):
    X_train, y_train, X_valid, y_valid = get_k_fold_data(3, i, features, labels)
    net = nn.Linear(4, 1).to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    X_train, y_train = X_train.to(device), y_train.to(device)
    for _ in range(3):
        loss = nn.functional.mse_loss(net(X_train), y_train)
        opt.zero_grad(); loss.backward(); opt.step()
        print(loss.item())
    with torch.no_grad():
        print("valid", nn.functional.mse_loss(net(X_valid), y_valid).item())
