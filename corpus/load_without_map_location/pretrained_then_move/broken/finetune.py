import torch
import torch.nn.functional as F

from model import Classifier, Encoder


def load_encoder(path):
    encoder = Encoder()
    state = torch.load(path, weights_only=True)
    missing, unexpected = encoder.load_state_dict(state, strict=False)
    assert not missing and not unexpected
    return encoder


def main():
    torch.manual_seed(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Classifier(load_encoder("encoder.pt"))
    model.to(device)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(5):
        x = torch.randn(16, 6)
        y = x[:, :4].argmax(1)
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("finetune", step, loss.item())


if __name__ == "__main__":
    main()
