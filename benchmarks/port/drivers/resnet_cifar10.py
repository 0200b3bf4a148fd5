import sys

import torch
import trainer

torch.manual_seed(0)
sys.argv = ["trainer.py", "--arch", "resnet20", "--epochs", "1", "-b", "8", "-j", "0", "-p", "1"]
trainer.main()
