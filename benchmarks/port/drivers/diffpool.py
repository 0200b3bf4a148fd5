from argparse import Namespace

import encoders
import torch
import train

torch.manual_seed(0)


class Graphs(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        edges, features = torch.rand(8, 8, generator=draw).round(), torch.rand(8, 5, generator=draw)
        return {"adj": edges, "feats": features, "label": index % 2, "num_nodes": 6 + index % 3, "assign_feats": features.clone()}


train.gen_train_plt_name = str
train.metrics.precision_score = train.metrics.recall_score = train.metrics.f1_score = lambda *args, **options: 0.0
train.metrics.accuracy_score = lambda labels, found: float((labels == found).mean())
options = Namespace(num_epochs=2, method="soft-assign", linkpred=True, clip=2.0, batch_size=2, bias=True)
model = encoders.SoftPoolingGcnEncoder(
    8, 5, 8, 8, 2, 3, 8, assign_ratio=0.5, num_pooling=1, bn=True, dropout=0.0, linkpred=True, args=options, assign_input_dim=5
).cuda()
loader = torch.utils.data.DataLoader(Graphs(), batch_size=2)
train.train(loader, model, options, val_dataset=loader)
