from common import *
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

torch.manual_seed(11)
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, x in enumerate(batches(3)):
    loss = model(x.to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
