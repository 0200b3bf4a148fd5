import os
import random
import runpy
import sys

random.seed(0)
folder = os.path.join("data", "FB15k-237")
os.makedirs(folder, exist_ok=True)
for part, count in (("train", 12), ("valid", 4), ("test", 4)):
    with open(os.path.join(folder, part + ".txt"), "w", encoding="utf-8") as file:
        for _ in range(count):
            file.write(f"e{random.randrange(12)}\tr{random.randrange(2)}\te{random.randrange(12)}\n")
sys.argv = ["main.py", "--num_iterations", "2", "--batch_size", "10", "--edim", "8", "--rdim", "6"]
runpy.run_path("main.py", run_name="__main__")
