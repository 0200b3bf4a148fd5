"""A writer with the interface of TensorBoard's that appends JSON lines."""
import json
import os


class SummaryWriter:
    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.file = open(os.path.join(folder, "events.jsonl"), "w")

    def add_scalar(self, tag, value, step):
        self.file.write(json.dumps({"tag": tag, "step": step, "value": float(value)}) + "\n")

    def close(self):
        self.file.close()
