import torch
from torch import nn

from charformer_pytorch import GBST

# constants

NUM_BATCHES = 4
BATCH_SIZE = 3
SEQ_LEN = 11
DIM = 16

torch.manual_seed(2)
use_cuda = torch.cuda.is_available()


def cuda(t):
    return t.cuda() if use_cuda else t


# instantiate tokenizer and encoder

tokenizer = cuda(GBST(num_tokens=40, dim=DIM))

encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(DIM, 2, 32, dropout=0., batch_first=True), 1, enable_nested_tensor=False)
to_logits = nn.Linear(DIM, 3)
model = cuda(nn.ModuleDict({'encoder': encoder, 'to_logits': to_logits}))

optim = torch.optim.Adam([*tokenizer.parameters(), *model.parameters()], lr=3e-4)

# training

for i in range(NUM_BATCHES):
    tokens = cuda(torch.randint(0, 40, (BATCH_SIZE, SEQ_LEN)))
    lengths = cuda(torch.randint(6, SEQ_LEN + 1, (BATCH_SIZE,)))
    mask = torch.arange(SEQ_LEN, device=tokens.device)[None, :] < lengths[:, None]
    labels = tokens[:, 0] % 3

    x, mask = tokenizer(tokens, mask=mask)
    hidden = model['encoder'](x, src_key_padding_mask=~mask)
    loss = nn.functional.cross_entropy(model['to_logits'](hidden[:, 0]), labels)
    loss.backward()
    print(f'training loss: {loss.item()}')
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optim.step()
    optim.zero_grad()
