import torch
import torch.nn as nn
import torch.nn.functional as F


def box_overlap(box1, box2):
    lt = torch.max(box1[:, None, :2], box2[None, :, :2])
    rb = torch.min(box1[:, None, 2:], box2[None, :, 2:])
    inter = (rb - lt).clamp(min=0).prod(2)
    area1 = (box1[:, 2:] - box1[:, :2]).prod(1)
    area2 = (box2[:, 2:] - box2[:, :2]).prod(1)
    return inter / (area1[:, None] + area2[None] - inter + 1e-7)


def xywh2xyxy(x):
    y = x.clone()
    y[:, :2] = x[:, :2] - x[:, 2:] / 2
    y[:, 2:] = x[:, :2] + x[:, 2:] / 2
    return y


class ComputeLossOTA:
    def __init__(self, model):
        device = next(model.parameters()).device
        self.BCEcls = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0], device=device))
        self.BCEobj = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0], device=device))
        self.nl, self.nc, self.grids = model.nl, model.nc, model.grids

    def __call__(self, p, targets):  # predictions, targets
        device = targets.device
        lcls, lbox, lobj = (torch.zeros(1, device=device) for _ in range(3))
        bs, as_, gjs, gts = self.build_targets(p, targets)
        for i, pi in enumerate(p):
            b, cell, gt = bs[i], as_[i], gts[i]
            tobj = torch.zeros_like(pi[..., 4], device=device)
            n = b.shape[0]
            if n:
                ps = pi[b, cell]
                lbox += F.smooth_l1_loss(ps[:, :4].sigmoid(), gt[:, 2:])
                tobj[b, cell] = 1.0
                t = torch.zeros_like(ps[:, 5:], device=device)
                t[range(n), gt[:, 1].long()] = 1.0
                lcls += self.BCEcls(ps[:, 5:], t)
            lobj += self.BCEobj(pi[..., 4], tobj)
        return lbox * 0.05 + lobj * 0.7 + lcls * 0.3

    def build_targets(self, p, targets):
        matching_bs = [[] for pp in p]
        matching_as = [[] for pp in p]
        matching_gjs = [[] for pp in p]
        matching_targets = [[] for pp in p]

        for batch_idx in range(p[0].shape[0]):
            b_idx = targets[:, 0] == batch_idx
            this_target = targets[b_idx]
            if this_target.shape[0] == 0:
                continue
            txyxy = xywh2xyxy(this_target[:, 2:6])

            pxyxys, p_cls, p_obj = [], [], []
            from_which_layer = []
            all_b, all_a = [], []
            for i, pi in enumerate(p):
                a = self.find_positive(this_target, i)
                b = torch.full_like(a, batch_idx)
                all_b.append(b)
                all_a.append(a)
                from_which_layer.append(torch.ones(size=(len(b),)) * i)

                fg_pred = pi[b, a]
                p_obj.append(fg_pred[:, 4:5])
                p_cls.append(fg_pred[:, 5:])
                pxyxys.append(xywh2xyxy(fg_pred[:, :4].sigmoid()))

            pxyxys = torch.cat(pxyxys, dim=0)
            p_obj = torch.cat(p_obj, dim=0)
            p_cls = torch.cat(p_cls, dim=0)
            from_which_layer = torch.cat(from_which_layer, dim=0)
            all_b = torch.cat(all_b, dim=0)
            all_a = torch.cat(all_a, dim=0)

            pair_wise_iou = box_overlap(txyxy, pxyxys)
            pair_wise_iou_loss = -torch.log(pair_wise_iou + 1e-8)
            top_k, _ = torch.topk(pair_wise_iou, min(4, pair_wise_iou.shape[1]), dim=1)
            dynamic_ks = torch.clamp(top_k.sum(1).int(), min=1)

            gt_cls_per_image = F.one_hot(this_target[:, 1].to(torch.int64), self.nc).float().unsqueeze(1).repeat(1, pxyxys.shape[0], 1)
            cls_preds_ = p_cls.float().unsqueeze(0).repeat(this_target.shape[0], 1, 1).sigmoid() * p_obj.unsqueeze(0).sigmoid()
            pair_wise_cls_loss = F.binary_cross_entropy_with_logits(cls_preds_, gt_cls_per_image, reduction="none").sum(-1)
            cost = (pair_wise_cls_loss + 3.0 * pair_wise_iou_loss).detach()

            matching_matrix = torch.zeros_like(cost, device="cpu")
            for gt_idx in range(this_target.shape[0]):
                _, pos_idx = torch.topk(cost[gt_idx], k=min(dynamic_ks[gt_idx].item(), cost.shape[1]), largest=False)
                matching_matrix[gt_idx][pos_idx.cpu()] = 1.0

            anchor_matching_gt = matching_matrix.sum(0)
            if (anchor_matching_gt > 1).sum() > 0:
                _, cost_argmin = torch.min(cost[:, (anchor_matching_gt > 1).to(cost.device)], dim=0)
                matching_matrix[:, anchor_matching_gt > 1] *= 0.0
                matching_matrix[cost_argmin.cpu(), anchor_matching_gt > 1] = 1.0
            fg_mask_inboxes = (matching_matrix.sum(0) > 0.0).to(targets.device)
            matched_gt_inds = matching_matrix.to(targets.device)[:, fg_mask_inboxes].argmax(0)

            from_which_layer = from_which_layer[fg_mask_inboxes]
            all_b = all_b[fg_mask_inboxes]
            all_a = all_a[fg_mask_inboxes]
            this_target = this_target[matched_gt_inds]

            for i in range(self.nl):
                layer_idx = from_which_layer == i
                matching_bs[i].append(all_b[layer_idx])
                matching_as[i].append(all_a[layer_idx])
                matching_targets[i].append(this_target[layer_idx])

        empty = torch.tensor([], device=targets.device, dtype=torch.int64)
        for i in range(self.nl):
            matching_bs[i] = torch.cat(matching_bs[i], dim=0) if matching_bs[i] else empty
            matching_as[i] = torch.cat(matching_as[i], dim=0) if matching_as[i] else empty
            matching_targets[i] = torch.cat(matching_targets[i], dim=0) if matching_targets[i] else empty.float().view(0, 6)
        return matching_bs, matching_as, matching_gjs, matching_targets

    def find_positive(self, target, i):
        g = self.grids[i]
        gxy = (target[:, 2:4] * g).long().clamp_(0, g - 1)
        centre = gxy[:, 1] * g + gxy[:, 0]
        return torch.cat((centre, (centre + 1).clamp_(max=g * g - 1)))
