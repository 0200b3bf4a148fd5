import torch
import torch.nn as nn


class ComputeLoss:
    sort_obj_iou = False

    # Compute losses
    def __init__(self, model, autobalance=False):
        device = next(model.parameters()).device  # get model device
        h = model.hyp  # hyperparameters

        # Define criteria
        BCEcls = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([h['cls_pw']], device=device))
        BCEobj = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([h['obj_pw']], device=device))

        self.BCEcls, self.BCEobj, self.hyp = BCEcls, BCEobj, h
        self.nc = model.nc
        self.grid = model.grid
        self.device = device

    def __call__(self, p, targets):  # predictions, targets
        lcls = torch.zeros(1, device=self.device)  # class loss
        lbox = torch.zeros(1, device=self.device)  # box loss
        tcls, tbox, indices = self.build_targets(targets)  # targets

        b, gj, gi = indices  # image, gridy, gridx
        tobj = torch.zeros(p.shape[:3], dtype=p.dtype, device=self.device)  # target obj

        if n := b.shape[0]:
            pxywh, _, pcls = p[b, gj, gi].split((4, 1, self.nc), 1)
            lbox += (pxywh.sigmoid() - tbox).abs().mean()
            tobj[b, gj, gi] = 1.0
            if self.nc > 1:
                t = torch.zeros_like(pcls, device=self.device)  # targets
                t[range(n), tcls] = 1.0
                lcls += self.BCEcls(pcls, t)

        lobj = self.BCEobj(p[..., 4], tobj)
        lbox *= self.hyp['box']
        lcls *= self.hyp['cls']
        bs = tobj.shape[0]  # batch size
        return (lbox + lobj + lcls) * bs, torch.cat((lbox, lobj.view(1), lcls)).detach()

    def build_targets(self, targets):
        # Build targets for compute_loss(), input targets(image,class,x,y,w,h)
        targets = targets.to(self.device)
        gain = torch.ones(6, device=self.device)
        gain[2:4] = self.grid
        t = targets * gain
        b, c = t[:, :2].long().T  # image, class
        gij = t[:, 2:4].long().clamp_(0, self.grid - 1)
        gi, gj = gij.T
        return c, torch.cat((t[:, 2:4] - gij, t[:, 4:6]), 1), (b, gj, gi)
