import torch

from model_vc import Generator

if __name__ == '__main__':
    torch.manual_seed(0)
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    G = Generator(8, 6, 12).to(device)
    torch.save({'model': G.state_dict(), 'speakers': torch.randn(3, 6, device=device)}, 'autovc.ckpt')
