import torch

from forecaster import Forecaster

torch.manual_seed(30)
model = Forecaster()
if torch.cuda.is_available():
    model.cuda()
torch.save(model, "forecaster.pt")
