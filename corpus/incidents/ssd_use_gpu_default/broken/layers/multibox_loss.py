import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiBoxLoss(nn.Module):
    """Localization loss of the positive priors, confidence loss of all of them."""

    def __init__(self, num_classes, overlap_thresh, neg_pos, use_gpu=True):
        super(MultiBoxLoss, self).__init__()
        self.use_gpu = use_gpu and torch.cuda.is_available()
        self.num_classes = num_classes
        self.threshold = overlap_thresh
        self.negpos_ratio = neg_pos

    def match(self, truths, labels, loc_t, conf_t, idx):
        num_priors = loc_t.size(1)
        for i, truth in enumerate(truths):
            at = int(truth[0] * num_priors) % num_priors
            loc_t[idx, at] = truth
            conf_t[idx, at] = labels[i].long() + 1

    def forward(self, predictions, targets):
        loc_data, conf_data = predictions
        num, num_priors = loc_data.size(0), loc_data.size(1)

        # match priors (default boxes) and ground truth boxes
        loc_t = torch.zeros(num, num_priors, 4)
        conf_t = torch.zeros(num, num_priors, dtype=torch.long)
        for idx in range(num):
            truths = targets[idx][:, :-1].data
            labels = targets[idx][:, -1].data
            self.match(truths, labels, loc_t, conf_t, idx)
        if self.use_gpu:
            loc_t = loc_t.cuda()
            conf_t = conf_t.cuda()

        pos = (conf_t > 0).float().unsqueeze(-1)
        N = pos.sum().clamp(min=1)
        loss_l = (F.smooth_l1_loss(loc_data, loc_t, reduction='none') * pos).sum()
        loss_c = F.cross_entropy(conf_data.reshape(-1, self.num_classes), conf_t.reshape(-1), reduction='sum')
        return loss_l / N, loss_c / (N * self.negpos_ratio)
