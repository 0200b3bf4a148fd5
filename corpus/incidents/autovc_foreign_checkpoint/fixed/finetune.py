import torch
import torch.nn.functional as F

from model_vc import Generator

torch.manual_seed(42)
device = 'cuda:0' if torch.cuda.is_available() else 'cpu'
G = Generator(8, 6, 12).train().to(device)

g_checkpoint = torch.load('autovc.ckpt', map_location=device)
G.load_state_dict(g_checkpoint['model'])
speakers = g_checkpoint['speakers']

g_optimizer = torch.optim.Adam(G.parameters(), 0.0001)

for i in range(4):
    x_real = torch.rand(2, 8, 12).to(device)
    emb_org = speakers[torch.tensor([i % 3, (i + 1) % 3])]
    x_identic = G(x_real, emb_org, emb_org)
    g_loss_id = F.mse_loss(x_real, x_identic)
    code_reconst = G(x_identic, emb_org, None)
    g_loss_cd = F.l1_loss(G(x_real, emb_org, None), code_reconst)
    g_loss = g_loss_id + g_loss_cd
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()
    print('Iteration [{}], G/loss_id: {:.4f}, G/loss_cd: {:.4f}'.format(i + 1, g_loss_id.item(), g_loss_cd.item()))
