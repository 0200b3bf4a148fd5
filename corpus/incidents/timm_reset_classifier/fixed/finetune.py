import argparse

import torch
import torch.nn as nn

from vision import create_model

parser = argparse.ArgumentParser(description='fine-tuning')
parser.add_argument('--model', default='mixer_tiny')
parser.add_argument('--num-classes', type=int, default=None)
parser.add_argument('--amp-dtype', default='none')
parser.add_argument('--device', default='cuda', type=str)


def main():
    args = parser.parse_args()
    torch.manual_seed(2752)
    if not torch.cuda.is_available():
        args.device = 'cpu'
    device = torch.device(args.device)
    model = create_model(args.model)
    model.to(device=device)

    # the features of the pretrained task, before its head is replaced
    with torch.no_grad():
        before = model(torch.rand(1, 3, 12, 12, device=device))
    print('pretrained outputs', tuple(before.shape))

    if args.num_classes is not None:
        model.reset_classifier(args.num_classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    train_loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1).to(device=device)
    model.train()
    for update in range(4):
        input, target = torch.rand(6, 3, 12, 12), torch.randint(model.num_classes, (6,))
        input, target = input.to(device), target.to(device)
        loss = train_loss_fn(model(input), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(update, loss.item())


if __name__ == '__main__':
    main()
