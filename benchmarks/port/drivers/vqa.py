from argparse import Namespace

import torch
from base_model import build_baseline0_newatt
from train import compute_score_with_logits, instance_bce_with_logits

torch.manual_seed(0)
data = Namespace(dictionary=Namespace(ntoken=30), v_dim=12, num_ans_candidates=7)
model = build_baseline0_newatt(data, 16).cuda()
for module in model.modules():
    if isinstance(module, torch.nn.Dropout):
        module.inplace = False  # today's autograd refuses it after a ReLU
optimizer = torch.optim.Adamax(model.parameters())
for step in range(3):
    features = torch.rand(2, 5, 12).cuda()
    boxes = torch.rand(2, 5, 6).cuda()
    questions = torch.randint(0, 30, (2, 8)).cuda()
    answers = torch.rand(2, 7).cuda()
    predicted = model(features, boxes, questions, answers)
    loss = instance_bce_with_logits(predicted, answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), compute_score_with_logits(predicted, answers).sum().item())
