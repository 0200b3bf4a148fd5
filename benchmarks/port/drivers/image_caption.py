import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import torch
from torch import nn

package = ModuleType("captioning.models")  # the package's other models need more packages
package.__path__ = [str(Path(__file__).resolve().parent / "captioning" / "models")]
sys.modules["captioning.models"] = package
from captioning.models.ShowTellModel import ShowTellModel  # noqa: E402

options = Namespace(
    vocab_size=12, input_encoding_size=8, rnn_type="lstm", rnn_size=8, num_layers=1, drop_prob_lm=0.0, seq_length=5,
    fc_feat_size=6,
)  # fmt: skip
torch.manual_seed(0)
model = ShowTellModel(options).cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    features = torch.rand(2, 6).cuda()
    captions = torch.randint(1, 12, (2, 5)).cuda()
    predicted = model(features, features, captions)
    loss = nn.functional.nll_loss(predicted.transpose(1, 2), captions)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
model.eval()
with torch.no_grad():
    words, scores = model(features, features, opt={"sample_method": "sample"}, mode="sample")
print(words.tolist())
