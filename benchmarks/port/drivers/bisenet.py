import torch
import torch.cuda.amp as amp
from lib.models import bisenetv2
from lib.ohem_ce_loss import OhemCELoss

torch.manual_seed(0)
bisenetv2.SegmentBranch.load_pretrain = lambda self: None
bisenetv2.BiSeNetV2.load_pretrain = lambda self: None
net = bisenetv2.BiSeNetV2(4)
net.cuda()
net.train()
criteria, criteria_aux = OhemCELoss(0.7), [OhemCELoss(0.7) for _ in range(4)]
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
scaler = amp.GradScaler()
for step in range(2):
    images, labels = torch.rand(2, 3, 64, 64).cuda(), torch.randint(0, 4, (2, 1, 64, 64)).cuda()
    labels = torch.squeeze(labels, 1)
    optimizer.zero_grad()
    with amp.autocast(enabled=step == 1):
        logits, *others = net(images)
        loss = criteria(logits, labels) + sum(each(found, labels) for each, found in zip(criteria_aux, others, strict=True))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    torch.cuda.synchronize()
    print(step, loss.item())
