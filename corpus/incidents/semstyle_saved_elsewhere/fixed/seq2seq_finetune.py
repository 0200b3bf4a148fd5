import argparse

import torch
import torch.nn as nn
import torch.optim as optim

from seq2seq_model import load_model


def get_batches(params, num, batch_size):
    for _ in range(num):
        terms = torch.randint(params['n_terms'], (batch_size, 4))
        words = torch.cat([terms, terms.flip(1)], dim=1) + 1
        yield terms, words


def train(args):
    use_cuda = torch.cuda.is_available()
    torch.manual_seed(args.seed)
    model, params = load_model(args.model_path)
    if use_cuda:
        model = model.cuda()

    criterion = nn.CrossEntropyLoss()
    opt = optim.Adam(model.parameters(), lr=args.learning_rate)
    for i, (terms, words) in enumerate(get_batches(params, 4, args.batch_size)):
        if use_cuda:
            terms, words = terms.cuda(), words.cuda()
        opt.zero_grad()
        scores = model(terms, words[:, :-1])
        loss = criterion(scores.transpose(1, 2), words[:, 1:])
        loss.backward()
        opt.step()
        print("batch %d, loss %.4f" % (i, loss.item()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument('--model_path', required=True)
    parser.add_argument('--batch_size', type=int, default=4)
    parser.add_argument('--learning_rate', type=float, default=0.001)
    parser.add_argument('--seed', type=int, default=3)
    train(parser.parse_args())
