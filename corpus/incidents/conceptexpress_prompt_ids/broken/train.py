import argparse
import itertools

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Tokenizer:
    model_max_length = 10

    def __init__(self):
        self.vocab = {"<pad>": 0, "a": 1, "photo": 2, "of": 3, "and": 4}

    def add_tokens(self, names):
        for name in names:
            self.vocab[name] = len(self.vocab)

    def __call__(self, prompt):
        ids = [self.vocab[w] for w in prompt.split()]
        return torch.tensor([ids + [0] * (self.model_max_length - len(ids))])


class TextEncoder(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.token_embedding = nn.Embedding(size, dim)
        self.layer = nn.Linear(dim, dim)

    def forward(self, ids):
        return self.layer(self.token_embedding(ids))


class UNet(nn.Module):
    def __init__(self, channels, dim):
        super().__init__()
        self.to_q, self.to_k = nn.Linear(channels, dim), nn.Linear(dim, dim)
        self.to_out = nn.Linear(dim, channels)

    def forward(self, x, t, context):
        q = self.to_q(x + t[:, None, None] / 100)
        attn = (q @ self.to_k(context).transpose(1, 2)).softmax(-1)
        return self.to_out(attn @ context)


class ConceptDataset(Dataset):
    def __init__(self, num, tokens):
        self.latents = torch.randn(num, 9, 4)
        self.tokens = tokens

    def __len__(self):
        return len(self.latents)

    def __getitem__(self, i):
        return {"pixel_values": self.latents[i], "token": self.tokens[i % len(self.tokens)]}


class ConceptExpress:
    def __init__(self, args):
        self.args = args
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.placeholder_tokens = [f"<asset{i}>" for i in range(args.num_assets)]
        self.tokenizer = Tokenizer()
        self.tokenizer.add_tokens(self.placeholder_tokens)

    def build_prompt(self, tokens):
        return "a photo of " + " and ".join(tokens)

    def main(self):
        torch.manual_seed(self.args.seed)
        text_encoder = TextEncoder(len(self.tokenizer.vocab), 12).to(self.device)
        unet = UNet(4, 12).to(self.device)
        text_encoder.layer.requires_grad_(False)
        optimizer = torch.optim.AdamW(
            itertools.chain(text_encoder.token_embedding.parameters(), unet.parameters()), lr=self.args.learning_rate
        )
        dataset = ConceptDataset(8, self.placeholder_tokens)
        train_dataloader = DataLoader(dataset, batch_size=self.args.train_batch_size, shuffle=True)

        for epoch in range(self.args.num_train_epochs):
            for step, batch in enumerate(train_dataloader):
                latents = batch["pixel_values"].to(self.device) * 0.18215
                noise = torch.randn(latents.shape).to(latents.device)
                timesteps = torch.randint(0, 100, (latents.shape[0],)).to(latents.device)
                noisy_latents = latents + noise * (timesteps[:, None, None] / 100)

                prompts = [self.build_prompt([token]) for token in batch["token"]]
                prompt_ids = torch.cat([self.tokenizer(prompt) for prompt in prompts])
                encoder_hidden_states = text_encoder(prompt_ids)
                model_pred = unet(noisy_latents, timesteps, encoder_hidden_states)
                loss = F.mse_loss(model_pred.float(), noise.float(), reduction="mean")

                all_ids = self.tokenizer(self.build_prompt(self.placeholder_tokens))
                weights = text_encoder(all_ids).norm(dim=-1)
                loss = loss + self.args.lambda_reg * weights[:, 3:].var()

                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                print({"loss": loss.detach().item(), "step": step})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_assets", type=int, default=3)
    parser.add_argument("--num_train_epochs", type=int, default=2)
    parser.add_argument("--train_batch_size", type=int, default=4)
    parser.add_argument("--learning_rate", type=float, default=5e-4)
    parser.add_argument("--lambda_reg", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=5)
    ConceptExpress(parser.parse_args()).main()
