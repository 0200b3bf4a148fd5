import evaluate
import torch
from model import NCF

torch.manual_seed(0)
model = NCF(20, 30, 8, 2, 0.0, "NeuMF-end").cuda()
criterion = torch.nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    users = torch.randint(0, 20, (8,)).cuda()
    items = torch.randint(0, 30, (8,)).cuda()
    labels = torch.randint(0, 2, (8,)).float().cuda()
    loss = criterion(model(users, items), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
model.eval()
pairs = torch.utils.data.TensorDataset(torch.zeros(20).long(), torch.arange(20), torch.zeros(20))
print(evaluate.metrics(model, torch.utils.data.DataLoader(pairs, batch_size=10), 3))
