import argparse

import torch
import torch.nn.functional as F

from pipeline import DDPMPipeline, UNet1D


def main(args):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(1222)
    model = UNet1D()
    model = model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate, weight_decay=1e-6)

    for epoch in range(args.num_epochs):
        model.train()
        for step in range(2):
            clean_images = torch.rand(4, 16).to(device)
            noise = torch.randn(clean_images.shape).to(clean_images.device)
            timesteps = torch.randint(0, 20, (4,), device=clean_images.device).long()
            noisy_images = clean_images + noise * (timesteps[:, None] / 20)
            loss = F.mse_loss(model(noisy_images, timesteps), noise)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            print("epoch", epoch, "loss", loss.detach().item())

        # Generate sample images for visual inspection
        if epoch % args.save_images_epochs == 0 or epoch == args.num_epochs - 1:
            pipeline = DDPMPipeline(unet=model)

            generator = torch.manual_seed(0)
            images = pipeline(generator=generator, batch_size=args.eval_batch_size)
            print("images", images.shape, images.mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_epochs", type=int, default=2)
    parser.add_argument("--eval_batch_size", type=int, default=3)
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--save_images_epochs", type=int, default=5)
    main(parser.parse_args())
