import torch
import torch.nn.functional as F
from torch import nn


class TextEncoder(nn.Module):
    def __init__(self, vocabulary=20, width=6):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.proj = nn.Linear(width, width)

    def forward(self, tokens):
        return self.proj(self.embed(tokens)).mean(dim=1)


class Denoiser(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * width, 16), nn.SiLU(), nn.Linear(16, width))

    def forward(self, noisy, text):
        return self.net(torch.cat([noisy, text], dim=1))


def log_sample(denoiser, text_encoder, prompt, device, step):
    with torch.no_grad():
        text_encoder.to(device)
        text = text_encoder(prompt.to(device))
        image = denoiser(torch.zeros(1, 6, device=device), text)
    print(f"step {step}: sample norm {image.norm().item():.4f}")


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    text_encoder = TextEncoder().to(device).eval().requires_grad_(False)
    denoiser = Denoiser().to(device)
    optimizer = torch.optim.AdamW(denoiser.parameters(), lr=1e-2)

    captions = torch.randint(0, 20, (8, 5))
    images = torch.randn(8, 6)
    with torch.no_grad():
        cached = text_encoder(captions.to(device))
    text_encoder.to("cpu")  # make room

    prompt = torch.randint(0, 20, (1, 5))
    for step in range(4):
        clean = images.to(device)
        noise = torch.randn(clean.shape).to(device)
        loss = F.mse_loss(denoiser(clean + noise, cached), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.5f}")
        if step % 2 == 1:
            log_sample(denoiser, text_encoder, prompt, device, step)


if __name__ == "__main__":
    main()
