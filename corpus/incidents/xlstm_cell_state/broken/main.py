import torch
import torch.nn as nn

from xLSTM import xLSTM

torch.manual_seed(2)
device = "cuda" if torch.cuda.is_available() else "cpu"

batch_size, seq_len, features = 4, 5, 8
x_example = torch.zeros(batch_size, seq_len, features)
model = xLSTM("ss", x_example, depth=2).to(device)
criterion = nn.MSELoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

wave = torch.sin(torch.arange(200).float() / 5)
for epoch in range(5):
    start = torch.randint(0, 100, (batch_size,)).tolist()
    x = torch.stack([wave[s:s + seq_len * features].view(seq_len, features) for s in start]).to(device)
    optimizer.zero_grad()
    out = model(x[:, :-1])
    loss = criterion(out, x[:, 1:])
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch}, loss {loss.item():.4f}")
