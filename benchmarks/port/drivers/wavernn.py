import numpy
import torch
from torch import nn

numpy.cumproduct = numpy.cumprod  # removed from NumPy 2
from models.fatchord_version import WaveRNN  # noqa: E402

torch.manual_seed(0)
model = WaveRNN(
    rnn_dims=16, fc_dims=16, bits=4, pad=2, upsample_factors=(2, 3), feat_dims=8, compute_dims=8, res_out_dims=8,
    res_blocks=1, hop_length=6, sample_rate=100, mode="RAW",
).cuda()  # fmt: skip
optimizer = torch.optim.Adam([each for each in model.parameters() if each.requires_grad])
for step in range(3):
    wave = (torch.rand(2, 18) * 2 - 1).cuda()
    mels = torch.rand(2, 8, 7).cuda()
    target = torch.randint(0, 16, (2, 18)).cuda()
    loss = nn.functional.cross_entropy(model(wave, mels).transpose(1, 2), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
with torch.no_grad():
    folded = model.fold_with_overlap(torch.rand(1, 20, 8).cuda(), 5, 2)
print(folded.shape, folded.sum().item())
