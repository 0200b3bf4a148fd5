import model
import torch

torch.manual_seed(0)
net = model.DeepLPFNet().cuda()
criterion = model.DeepLPFLoss(ssim_window_size=5)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
for step in range(3):
    source = torch.rand(1, 3, 96, 96).cuda()
    target = torch.rand(1, 3, 96, 96).cuda()
    loss = criterion(torch.clamp(net(source), 0.0, 1.0), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
