import torch

from utils.general import non_max_suppression
from utils.plots import output_to_target, plot_images


def test(model, dataloader, plots=True):
    device = next(model.parameters()).device
    model.eval()
    seen = 0
    for batch_i, (img, targets) in enumerate(dataloader):
        img = img.to(device, non_blocking=True).float()
        img /= 255.0  # 0 - 255 to 0.0 - 1.0
        nb, _, height, width = img.shape

        # Disable gradients
        with torch.no_grad():
            inf_out = model(img).sigmoid() * torch.tensor([width, height, width, height] + [1] * 3, device=device)
            output = non_max_suppression(inf_out)
        seen += sum(len(o) for o in output if o is not None)

        # Plot images
        if plots and batch_i < 1:
            plot_images(output_to_target(output, width, height), 'test_batch0_pred.txt')
    return seen
