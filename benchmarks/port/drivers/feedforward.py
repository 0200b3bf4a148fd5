import runpy
from pathlib import Path

import torch


def main():
    torch.manual_seed(0)
    here = Path(__file__).resolve().parent
    script = next(path for path in (here / "main-gpu.py", here / "main.py") if path.exists())
    runpy.run_path(str(script), run_name="__main__")


main()
