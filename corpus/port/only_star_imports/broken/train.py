from common import *

torch.manual_seed(11)
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, x in enumerate(batches(3)):
    loss = model(x.cuda()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
