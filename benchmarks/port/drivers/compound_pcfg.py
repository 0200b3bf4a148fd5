import pickle

import numpy as np
import train

draw = np.random.RandomState(0)


def sentences(lengths, size):
    rows, others = [], []
    for length in lengths:
        for _ in range(size):
            rows.append([1, *draw.randint(4, 20, length), 2] + [0] * (max(lengths) - length))
            spans = [(0, right) for right in range(1, length)]
            others.append(["a sentence", ["X"] * length, [0] * length, None, None, spans])
    names = {f"w{each}": each for each in range(20)}
    return {
        "source": rows, "other_data": others, "source_l": [length + 2 for length in lengths], "batch_l": [size] * len(lengths),
        "batch_idx": [size * each for each in range(len(lengths))], "vocab_size": [20], "word2idx": names,
        "idx2word": {each: name for name, each in names.items()},
    }


for name, lengths in (("train", [4, 5]), ("val", [4])):
    with open(f"{name}.pkl", "wb") as file:
        pickle.dump(sentences(lengths, 2), file)
train.main(train.parser.parse_args([
    "--train_file", "train.pkl", "--val_file", "val.pkl", "--save_path", "model.pt", "--z_dim", "4", "--t_states", "4", "--nt_states", "3",
    "--state_dim", "8", "--h_dim", "8", "--w_dim", "8", "--num_epochs", "2",
]))
