# Fine-tunes a small GPT as a spam classifier.
# The code of the earlier chapters is imported from gpt_parts.py.

import argparse
import time

import torch
from torch.utils.data import DataLoader, Dataset

from gpt_parts import GPTModel, WordTokenizer, load_weights_into_gpt, make_messages


class SpamDataset(Dataset):
    def __init__(self, messages, tokenizer, max_length=None, pad_token_id=0):
        self.labels = [label for _, label in messages]
        self.encoded_texts = [tokenizer.encode(text) for text, _ in messages]

        if max_length is None:
            self.max_length = max(len(encoded) for encoded in self.encoded_texts)
        else:
            self.max_length = max_length
            self.encoded_texts = [encoded[:max_length] for encoded in self.encoded_texts]

        self.encoded_texts = [
            encoded + [pad_token_id] * (self.max_length - len(encoded))
            for encoded in self.encoded_texts
        ]

    def __getitem__(self, index):
        return (
            torch.tensor(self.encoded_texts[index], dtype=torch.long),
            torch.tensor(self.labels[index], dtype=torch.long),
        )

    def __len__(self):
        return len(self.labels)


def loss_batch(input_batch, target_batch, model, device):
    input_batch, target_batch = input_batch.to(device), target_batch.to(device)
    logits = model(input_batch)[:, -1, :]  # Logits of last output token
    return torch.nn.functional.cross_entropy(logits, target_batch)


def loss_loader(data_loader, model, device, num_batches):
    total = 0.
    for i, (input_batch, target_batch) in enumerate(data_loader):
        if i == num_batches:
            break
        total += loss_batch(input_batch, target_batch, model, device).item()
    return total / num_batches


@torch.no_grad()
def accuracy_loader(data_loader, model, device):
    model.eval()
    correct, seen = 0, 0
    for input_batch, target_batch in data_loader:
        input_batch, target_batch = input_batch.to(device), target_batch.to(device)
        predicted = torch.argmax(model(input_batch)[:, -1, :], dim=-1)
        correct += (predicted == target_batch).sum().item()
        seen += predicted.shape[0]
    return correct / seen


def evaluate_model(model, train_loader, val_loader, device, eval_iter):
    model.eval()
    with torch.no_grad():
        train_loss = loss_loader(train_loader, model, device, num_batches=eval_iter)
        val_loss = loss_loader(val_loader, model, device, num_batches=eval_iter)
    model.train()
    return train_loss, val_loss


def train_classifier(model, train_loader, val_loader, optimizer, device, num_epochs,
                     eval_freq, eval_iter):
    examples_seen, global_step = 0, -1
    for epoch in range(num_epochs):
        model.train()
        for input_batch, target_batch in train_loader:
            optimizer.zero_grad()
            loss = loss_batch(input_batch, target_batch, model, device)
            loss.backward()
            optimizer.step()
            examples_seen += input_batch.shape[0]
            global_step += 1

            if global_step % eval_freq == 0:
                train_loss, val_loss = evaluate_model(
                    model, train_loader, val_loader, device, eval_iter)
                print(f"Ep {epoch+1} (Step {global_step:06d}): "
                      f"Train loss {train_loss:.3f}, Val loss {val_loss:.3f}")
        print(f"Training accuracy: {accuracy_loader(train_loader, model, device)*100:.2f}%")
    return examples_seen


if __name__ == "__main__":

    parser = argparse.ArgumentParser(description="Finetune a GPT model for classification")
    parser.add_argument(
        "--test_mode",
        default=False,
        action="store_true",
        help="Use a tiny model without pretrained weights."
    )
    args = parser.parse_args()

    ########################################
    # Data
    ########################################
    messages = make_messages(60)
    tokenizer = WordTokenizer(text for text, _ in messages)
    train_dataset = SpamDataset(messages[:40], tokenizer)
    val_dataset = SpamDataset(messages[40:], tokenizer, max_length=train_dataset.max_length)

    torch.manual_seed(123)
    train_loader = DataLoader(train_dataset, batch_size=10, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_dataset, batch_size=10)

    ########################################
    # Model
    ########################################
    if args.test_mode:
        BASE_CONFIG = {
            "vocab_size": tokenizer.n_vocab,
            "context_length": train_dataset.max_length,
            "drop_rate": 0.0,
            "qkv_bias": False,
            "emb_dim": 12,
            "n_layers": 1,
            "n_heads": 2
        }
        model = GPTModel(BASE_CONFIG)
        model.eval()
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model.to(device)

    else:
        BASE_CONFIG = {
            "vocab_size": tokenizer.n_vocab,
            "context_length": train_dataset.max_length,
            "drop_rate": 0.0,
            "qkv_bias": True,
            "emb_dim": 32,
            "n_layers": 2,
            "n_heads": 4
        }
        model = GPTModel(BASE_CONFIG)
        load_weights_into_gpt(model, seed=0)
        model.eval()
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model.to(device)

    ########################################
    # Modify the pretrained model
    ########################################
    for param in model.parameters():
        param.requires_grad = False

    torch.manual_seed(123)

    num_classes = 2
    model.out_head = torch.nn.Linear(in_features=BASE_CONFIG["emb_dim"], out_features=num_classes)

    for param in model.trf_blocks[-1].parameters():
        param.requires_grad = True

    for param in model.final_norm.parameters():
        param.requires_grad = True

    ########################################
    # Finetune the modified model
    ########################################
    start_time = time.time()
    torch.manual_seed(123)

    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.1)

    num_epochs = 2
    examples_seen = train_classifier(
        model, train_loader, val_loader, optimizer, device,
        num_epochs=num_epochs, eval_freq=2, eval_iter=2,
    )
    assert time.time() > start_time
    print(f"Training completed after {examples_seen} examples.")
