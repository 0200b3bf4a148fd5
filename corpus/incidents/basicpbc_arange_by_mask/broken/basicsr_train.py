import torch

from pbc_arch import BasicPBC


def make_pair(generator, segments=6, size=8):
    seg = torch.randint(0, segments, (size, size), generator=generator)
    seg.view(-1)[:segments] = torch.arange(segments)
    perm = torch.randperm(segments, generator=generator)
    line = torch.rand(3, size, size, generator=generator)
    matches = perm.clone()
    matches[-1] = -1
    kpts = torch.rand(segments, 2, generator=generator)
    return {
        "file_name": "0001.png",
        "line": line, "segment": seg, "keypoints": kpts,
        "line_ref": line + 0.05, "segment_ref": perm[seg], "keypoints_ref": kpts[perm.argsort()],
        "all_matches": matches,
    }


def dict_to_device(data, device):
    return {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in data.items()}


def train_pipeline():
    torch.manual_seed(10)
    generator = torch.Generator().manual_seed(10)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = BasicPBC().to(device)
    optim = torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.9, 0.99))
    for current_iter in range(1, 5):
        data = dict_to_device(make_pair(generator), device)
        optim.zero_grad()
        output = net(data)
        output["loss"].backward()
        optim.step()
        print(f"{data['file_name']} iter: {current_iter} l_ce: {output['loss'].item():.4e} acc: {output['accuracy'].item():.3f}")


if __name__ == "__main__":
    train_pipeline()
