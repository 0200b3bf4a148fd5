# Plotting utils

import numpy as np
import torch


def output_to_target(output, width, height):
    # Convert model output to target format [batch_id, class_id, x, y, w, h, conf]
    if isinstance(output, torch.Tensor):
        output = output.cpu().numpy()

    targets = []
    for i, o in enumerate(output):
        if o is not None:
            for pred in o:
                pred = pred.cpu().numpy()
                box = pred[:4]
                w = (box[2] - box[0]) / width
                h = (box[3] - box[1]) / height
                x = box[0] / width + w / 2
                y = box[1] / height + h / 2
                conf = pred[4]
                cls = int(pred[5])

                targets.append([i, cls, x, y, w, h, conf])

    return np.array(targets)


def plot_images(targets, fname):
    with open(fname, 'w') as f:
        for t in targets[targets[:, 6] > 0.1] if len(targets) else []:
            f.write('%g %g %.3f %.3f %.3f %.3f %.2f\n' % tuple(t))
