import io
import pickle

import numpy as np


def table(words, dim):
    rng = np.random.default_rng(4)
    stored = pickle.dumps({"rows": rng.standard_normal((words, dim)).astype("f4") * 0.1})
    return pickle.load(io.BytesIO(stored))["rows"]
