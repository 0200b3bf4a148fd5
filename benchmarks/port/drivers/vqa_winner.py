import os
import pickle
import runpy
import sys

import numpy as np

draw = np.random.RandomState(0)
words, answers = [f"word{number}" for number in range(20)], [f"answer{number}" for number in range(6)]


def questions(count):
    for number in range(count):
        asked = list(draw.choice(words, 5))
        answer = [(str(draw.choice(answers)), 1.0), (answers[number % 6], 0.3)]
        yield {"image_id": number, "question_toked": asked, "question": " ".join(asked), "answer": answer}


os.makedirs("data", exist_ok=True)
content = {
    "dict_q": (words, {word: index for index, word in enumerate(words)}),
    "dict_ans": (answers, {answer: index for index, answer in enumerate(answers)}),
}
for part, count in (("train", 8), ("val", 4)):
    content[part + "_qa"] = list(questions(count))
    content[part + "_vfeats"] = draw.rand(count, 36, 2048).astype(np.float32)
for name, value in content.items():
    with open(f"data/{name}.pkl", "wb") as file:
        pickle.dump(value, file)
np.save("data/glove_pretrained_12.npy", draw.randn(20, 12).astype(np.float32))
sys.argv = [
    "main.py", "--mode", "train", "--hid-dim", "16", "--batch-size", "4", "--vbatch-size", "4", "--epoch", "2", "--n-workers", "0",
    "--data-root", "data", "--save", "saved", "--wemb-init", "data/glove_pretrained_12.npy", "--log-freq", "2",
]  # fmt: skip
runpy.run_path("main.py", run_name="__main__")
