import torch
import train


class People(torch.utils.data.Dataset):
    def __init__(self, labels, folder, stride, sigma, path_thickness, transform):
        self.side = 64 // stride

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return {
            "image": torch.rand(3, 64, 64), "keypoint_mask": torch.ones(19, self.side, self.side),
            "paf_mask": torch.ones(38, self.side, self.side), "keypoint_maps": torch.rand(19, self.side, self.side),
            "paf_maps": torch.rand(38, self.side, self.side),
        }


torch.manual_seed(0)
train.CocoTrainDataset = People
train.train(
    "labels", "images", num_refinement_stages=1, base_lr=4e-5, batch_size=2, batches_per_iter=1, num_workers=0, checkpoint_path=None,
    weights_only=False, from_mobilenet=False, checkpoints_folder=".", log_after=1, val_labels="", val_images_folder="", val_output_name="",
    checkpoint_after=1000, val_after=1000,
)
