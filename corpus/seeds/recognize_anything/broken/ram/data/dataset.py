import numpy as np
import torch
from torch.utils.data import Dataset

WORDS = ["dog", "tree", "car", "sky", "boat"]


class TagDataset(Dataset):
    """Images with one caption, the tags of the picture and the tags parsed from the caption."""

    def __init__(self, config):
        self.class_num = config["num_class"]
        self.size = config["image_size"]
        rng = np.random.RandomState(12)
        self.ann = []
        for i in range(config["samples"]):
            tags = sorted(rng.choice(self.class_num, size=2, replace=False).tolist())
            self.ann.append({"seed": i, "tags": tags, "caption": "a photo of " + " and ".join(WORDS[t] for t in tags)})

    def __len__(self):
        return len(self.ann)

    def __getitem__(self, index):
        ann = self.ann[index]
        rng = np.random.RandomState(ann["seed"])
        image = rng.rand(3, self.size, self.size).astype(np.float32)
        image[0] += sum(ann["tags"]) / 5

        image_tag = np.zeros([self.class_num])
        image_tag[ann["tags"]] = 1
        image_tag = torch.tensor(image_tag, dtype=torch.float32)

        parse_tag = np.zeros([self.class_num])
        parse_tag[ann["tags"][0]] = 1
        parse_tag = torch.tensor(parse_tag, dtype=torch.long)

        image = torch.from_numpy(image)
        image_224 = image[:, ::2, ::2].contiguous()
        return image, image_224, ann["caption"], image_tag, parse_tag
