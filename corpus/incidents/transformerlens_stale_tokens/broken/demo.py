import torch

from bridge import BridgeConfig, HookedBridge

torch.manual_seed(1509)
model = HookedBridge(BridgeConfig())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

prompts = ["the cat sat", "on the mat", "and looked"]
for epoch in range(2):
    for inputs in (prompts, torch.randint(30, (3, 9))):
        logits, loss = model(inputs, return_type="both")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, tuple(logits.shape), loss.item())
