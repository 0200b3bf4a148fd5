import torch
from torch import nn


def box_area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def box_iou(boxes1, boxes2):
    lt = torch.max(boxes1[:, None, :2], boxes2[:, :2])
    rb = torch.min(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    return inter / (box_area(boxes1)[:, None] + box_area(boxes2) - inter + 1e-6)


class Matcher(object):
    """Assigns to each predicted element the ground truth that it overlaps most."""

    def __init__(self, thresholds, labels):
        self.thresholds = [-float("inf")] + thresholds + [float("inf")]
        self.labels = labels

    def __call__(self, match_quality_matrix):
        matched_vals, matches = match_quality_matrix.max(dim=0)
        match_labels = matches.new_full(matches.size(), 1, dtype=torch.int8)
        for l, low, high in zip(self.labels, self.thresholds[:-1], self.thresholds[1:]):
            match_labels[(matched_vals >= low) & (matched_vals < high)] = l
        best = match_quality_matrix.argmax(dim=1)
        match_labels[best] = 1
        return matches, match_labels


class Stage1Assigner(nn.Module):
    def __init__(self, t_low=0.3, t_high=0.7, max_k=4):
        super().__init__()
        self.matcher = Matcher([t_low, t_high], [0, -1, 1])
        self.k = max_k

    def postprocess_indices(self, pr_inds, gt_inds, iou):
        return sample_topk_per_gt(pr_inds, gt_inds, iou, self.k)

    @torch.no_grad()
    def forward(self, outputs, targets):
        indices = []
        for b, boxes in enumerate(outputs["pred_boxes"]):
            iou, _ = box_iou(targets[b]["boxes"], boxes.detach()), None
            matched_idxs, matched_labels = self.matcher(iou)
            all_pr_inds = torch.arange(len(boxes), device=boxes.device)
            pos = matched_labels == 1
            indices.append(self.postprocess_indices(all_pr_inds[pos], matched_idxs[pos], iou))
        return indices


def sample_topk_per_gt(pr_inds, gt_inds, iou, k):
    if len(gt_inds) == 0:
        return pr_inds, gt_inds
    gt_inds2, counts = gt_inds.unique(return_counts=True)
    scores, pr_inds2 = iou[gt_inds2].topk(min(k, iou.size(1)), dim=1)
    gt_inds2 = gt_inds2[:, None].repeat(1, pr_inds2.size(1))
    keep = torch.arange(pr_inds2.size(1))[None, :] < counts[:, None]
    return pr_inds2[keep], gt_inds2[keep]
