from argparse import Namespace

import torch
from loss_function import Tacotron2Loss
from model import Tacotron2

options = Namespace(
    mask_padding=True, fp16_run=False, n_mel_channels=4, n_frames_per_step=1, n_symbols=12, symbols_embedding_dim=16,
    encoder_kernel_size=5, encoder_n_convolutions=1, encoder_embedding_dim=16, decoder_rnn_dim=16, prenet_dim=8,
    max_decoder_steps=10, gate_threshold=0.5, p_attention_dropout=0.1, p_decoder_dropout=0.1, attention_rnn_dim=16,
    attention_dim=8, attention_location_n_filters=4, attention_location_kernel_size=3, postnet_embedding_dim=8,
    postnet_kernel_size=5, postnet_n_convolutions=2,
)  # fmt: skip
torch.manual_seed(0)
model = Tacotron2(options).cuda()
criterion = Tacotron2Loss()
optimizer = torch.optim.Adam(model.parameters())
model.train()
for step in range(3):
    batch = (
        torch.randint(0, 12, (2, 6)),
        torch.tensor([6, 4]),
        torch.rand(2, 4, 8),
        torch.zeros(2, 8),
        torch.tensor([8, 5]),
    )
    inputs, targets = model.parse_batch(batch)
    loss = criterion(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
