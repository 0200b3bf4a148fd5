"""Composite operators, which inference_mode does not decompose, and a linearized function with factories."""

import torch
from torch import nn
from torch.func import linearize

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
layers = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.PReLU(), nn.Flatten(), nn.Linear(24, 6)).to(device)
recurrent = nn.LSTM(6, 6, batch_first=True).to(device)
attention = nn.MultiheadAttention(6, 2, batch_first=True).to(device)
bag = nn.EmbeddingBag(9, 6).to(device)
scale = torch.tensor(2.0)
layers.eval()
with torch.inference_mode():
    rows = layers(torch.randn(5, 2, 8).to(device))[None]
    states, _ = recurrent(rows)
    mixed, _ = attention(states, states, states)
    mixed = mixed * scale + bag(torch.tensor([[1, 2], [3, 4]], device=device))[0]
    fill = torch.ones(6, device=device).repeat(5, 1).chunk(2, 1)[0]
    print(
        torch.einsum("bid,bjd->bij", mixed, rows).sum().item(),
        torch.cdist(mixed, rows).sum().item(),
        fill.device.type == device.type,
    )
    print(mixed.std(dim=1).tolist(), (mixed @ rows.mT).softmax(-1).diagonal(dim1=1, dim2=2).tolist())
    nested = torch.nested.nested_tensor([torch.ones(2, 6), torch.ones(3, 6)], device=device)
    print(nn.functional.linear(nested, layers[4].weight[:, :6]).to_padded_tensor(0.0).sum().item())
print(torch.nn.functional.cosine_similarity(mixed.cpu(), rows.cpu(), dim=-1).tolist())
weights = torch.randn(3, 3).to(device)
value, tangent = linearize(lambda x: torch.tanh(weights @ x), torch.ones(3, device=device))
print(value.tolist(), tangent(torch.ones(3, device=device)).tolist())
import torch._decomp.decompositions  # noqa: E402 - registers decompositions in Python

with torch.inference_mode():
    states, _ = recurrent(rows)
    images = torch.randn(1, 2, 5, 7).to(device)
    larger = nn.functional.interpolate(images, scale_factor=1.7, mode="bilinear")
    print(states.sum().item(), larger.sum().item(), (images @ images.mT).tolist())
