import sys

import train_mnist

for attack in ("fgsm", "pgd"):
    sys.argv = ["train_mnist.py", "--batch-size", "8", "--epochs", "1", "--attack", attack, "--attack-iters", "2"]
    train_mnist.main()
