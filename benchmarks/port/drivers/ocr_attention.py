from argparse import Namespace

import torch
from model import Model
from utils import AttnLabelConverter

options = Namespace(
    Transformation="TPS", FeatureExtraction="VGG", SequenceModeling="BiLSTM", Prediction="Attn", num_fiducial=6, imgH=32,
    imgW=64, input_channel=1, output_channel=16, hidden_size=16, batch_max_length=5,
)  # fmt: skip
torch.manual_seed(0)
converter = AttnLabelConverter("0123456789abc")
options.num_class = len(converter.character)
model = Model(options).cuda()
criterion = torch.nn.CrossEntropyLoss(ignore_index=0).cuda()
optimizer = torch.optim.Adadelta(model.parameters())
model.train()
for step in range(3):
    images = torch.rand(2, 1, 32, 64).cuda()
    text, length = converter.encode(["a1b", "cab0"], batch_max_length=5)
    predicted = model(images, text[:, :-1])
    loss = criterion(predicted.view(-1, predicted.shape[-1]), text[:, 1:].contiguous().view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
