import runpy
import sys
import types

import torchvision.datasets

colours = types.SimpleNamespace(RED="", BLUE="", GREEN="", RESET_ALL="")
sys.modules["colorama"] = types.SimpleNamespace(Fore=colours, Back=colours, Style=colours)
sys.modules["tabulate"] = types.SimpleNamespace(tabulate=lambda rows, headers: str(rows))
sys.modules["inception"] = types.SimpleNamespace(InceptionV3=None)  # its weights are downloaded
sys.path.append("../../pypi_packages/adabelief_pytorch0.2.0")
import fid_score

torchvision.datasets.CIFAR10.shape = (3, 64, 64)
fid_score.calculate_fid_given_paths = lambda paths, batch_size, cuda: 0.0
options = ["--workers", "0", "--batchSize", "4", "--niter", "2", "--ngf", "8", "--ndf", "8", "--manualSeed", "1"]
sys.argv = ["main.py", "--optimizer", "adabelief", "--eps", "1e-12", "--Train", "--dataset", "cifar10", *options]
runpy.run_path("main.py", run_name="__main__")
