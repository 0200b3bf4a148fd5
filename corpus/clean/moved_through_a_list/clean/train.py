import torch
import torch.nn as nn


def to_device(device, *modules):
    return [m.to(device) for m in modules]


torch.manual_seed(4)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
discriminator = nn.Linear(3, 1)
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))
encoder, projector = nn.Linear(3, 3), nn.Linear(3, 3)
names = {"aux": nn.Linear(3, 1), "reg": nn.Linear(3, 1)}

for net in (generator, discriminator):
    net.to(device)
nn.ModuleList([criterion, encoder]).to(device)
(projector,) = to_device(device, projector)
for name in names:
    names[name] = names[name].to(device)

params = [p for m in (generator, discriminator, encoder, projector, *names.values()) for p in m.parameters()]
optimizer = torch.optim.Adam(params, lr=1e-3)
for step in range(4):
    z = torch.randn(10, 4).to(device)
    fake = projector(encoder(generator(z)))
    out = discriminator(fake) + names["aux"](fake) + names["reg"](fake)
    loss = criterion(out, torch.ones_like(out))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
