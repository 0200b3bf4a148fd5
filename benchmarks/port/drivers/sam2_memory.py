import torch
from sam2.modeling.sam2_base import SAM2Base
from torch import nn


class Attention(nn.Module):
    d_model = 32

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(32, 32)

    def forward(self, curr, curr_pos, memory, memory_pos, num_obj_ptr_tokens=0):
        return curr[0] + self.mix(memory + memory_pos).mean(0, keepdim=True)


class MemoryEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 32, 16, stride=16)

    def forward(self, features, masks, skip_mask_sigmoid=False):
        encoded = features + self.down(masks)
        return {"vision_features": encoded, "vision_pos_enc": [torch.ones_like(encoded)]}


class ImageEncoder(nn.Module):
    pass


torch.manual_seed(0)
model = SAM2Base(ImageEncoder(), Attention(), MemoryEncoder(), num_maskmem=2, image_size=64, directly_add_no_mem_embed=True).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(2):
    frames = {"cond_frame_outputs": {}, "non_cond_frame_outputs": {}}
    losses = []
    for frame in range(2):
        features = [torch.rand(16, 1, 32).cuda()]
        positions = [torch.rand(16, 1, 32).cuda()]
        masks = torch.zeros(1, 1, 64, 64).cuda()
        masks[:, :, :32] = 1
        points = {"point_coords": torch.rand(1, 1, 2).cuda() * 64, "point_labels": torch.ones(1, 1, dtype=torch.int32).cuda()}
        found = model.track_step(
            frame, frame == 0, features, positions, [(4, 4)], points if frame == 0 else None, None, frames, 2
        )
        frames["cond_frame_outputs" if frame == 0 else "non_cond_frame_outputs"][frame] = found
        losses.append(nn.functional.mse_loss(found["pred_masks_high_res"], masks))
    loss = sum(losses)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
