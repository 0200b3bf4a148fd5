import torch


def non_max_suppression(prediction, conf_thres=0.1, max_det=3):
    """Returns detections with shape: nx6 (x1, y1, x2, y2, conf, cls), or None"""
    output = [None] * prediction.shape[0]
    for xi, x in enumerate(prediction):
        conf, j = (x[:, 5:] * x[:, 4:5]).max(1, keepdim=True)
        x = torch.cat((x[:, :4], conf, j.float()), 1)[conf.view(-1) > conf_thres]
        if not x.shape[0]:
            continue
        output[xi] = x[x[:, 4].argsort(descending=True)[:max_det]]
    return output
