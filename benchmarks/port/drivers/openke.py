import numpy as np
import torch
from openke.config import Trainer
from openke.module.loss import MarginLoss, SigmoidLoss
from openke.module.model import ComplEx, TransE
from openke.module.strategy import NegativeSampling


class Loader:
    def __init__(self, batches, positive, negative):
        self.batches, self.positive, self.negative = batches, positive, negative

    def __iter__(self):
        draw = np.random.RandomState(0)
        count = self.positive * (1 + self.negative)
        for _ in range(self.batches):
            relations = np.tile(draw.randint(0, 5, self.positive), 1 + self.negative)
            labels = np.where(np.arange(count) < self.positive, 1, -1).astype(np.float32)
            yield {
                "batch_h": draw.randint(0, 20, count), "batch_t": draw.randint(0, 20, count), "batch_r": relations,
                "batch_y": labels, "mode": "normal",
            }


torch.manual_seed(0)
loader = Loader(2, 4, 3)
transe = TransE(ent_tot=20, rel_tot=5, dim=8, p_norm=1, norm_flag=True)
model = NegativeSampling(model=transe, loss=MarginLoss(margin=5.0), batch_size=4)
Trainer(model=model, data_loader=loader, train_times=2, alpha=1.0, use_gpu=True).run()
complex_model = ComplEx(ent_tot=20, rel_tot=5, dim=8)
model = NegativeSampling(model=complex_model, loss=SigmoidLoss(adv_temperature=1), batch_size=4, regul_rate=1.0)
Trainer(model=model, data_loader=loader, train_times=1, alpha=0.5, use_gpu=True, opt_method="adagrad").run()
