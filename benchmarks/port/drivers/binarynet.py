import sys

import torch

view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.2
import main_binary
import main_binary_hinge

main_binary_hinge.ResultsLog.plot = lambda self, **options: None  # missing in utils.py
for script in (main_binary, main_binary_hinge):
    torch.manual_seed(0)
    sys.argv = [
        script.__name__ + ".py", "--model", "resnet_binary", "--dataset", "cifar10", "--results_dir", "results", "--save", script.__name__,
        "-b", "8", "--epochs", "1", "-j", "0", "-p", "1",
    ]
    script.main()
