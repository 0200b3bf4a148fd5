import numpy as np
import torch

from widedeep.metrics import BinaryFBeta
from widedeep.models import WideDeep
from widedeep.trainer import Trainer

if __name__ == "__main__":
    np.random.seed(231)
    torch.manual_seed(231)
    X_wide = np.random.randint(0, 10, (32, 3))
    X_tab = np.random.randn(32, 5).astype("float32")
    target = (X_tab[:, 0] + X_wide[:, 0] / 10 > 0.5).astype(int)

    model = WideDeep(wide_dim=10, deep_dim=5)
    trainer = Trainer(model, objective="binary", metrics=[BinaryFBeta(), BinaryFBeta(beta=2)])
    trainer.fit(X_wide=X_wide, X_tab=X_tab, target=target, n_epochs=2, batch_size=16)
