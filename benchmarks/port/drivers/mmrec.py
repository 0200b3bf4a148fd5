import os
import runpy
import sys
import types

import numpy as np
import torch
import yaml


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Matrix:
    """A matrix with the methods of SciPy's sparse matrices."""

    def __init__(self, values, dtype=None):
        self.values = np.asarray(values, dtype or np.float64)
        self.shape = self.values.shape
        self.row, self.col = np.nonzero(self.values)
        self.data = self.values[self.row, self.col]

    tolil = todok = tocsr = tocoo = lambda self: Matrix(self.values, self.values.dtype)
    astype = lambda self, dtype: Matrix(self.values, dtype)
    T = property(lambda self: Matrix(self.values.T, self.values.dtype))

    def __getitem__(self, part):
        return Matrix(self.values[part], self.values.dtype)

    def __setitem__(self, part, other):
        values = self.values.copy()
        values[part] = other.values
        self.__init__(values, values.dtype)

    def sum(self, axis):
        return self.values.sum(axis, keepdims=True)

    def dot(self, other):
        return Matrix(self.values @ other.values)


def coo_matrix(content, shape):
    values = np.zeros(shape)
    np.add.at(values, content[1], content[0])
    return Matrix(values)


def scatter_add(values, index, dim, dim_size):
    return values.new_zeros(dim_size).scatter_add(dim, index, values)


class Column:
    def __init__(self, values):
        self.values = np.asarray(values)

    def __iter__(self):
        return iter(self.values.tolist())

    def unique(self):
        return np.unique(self.values)


class Groups:
    def __init__(self, keys, values):
        self.parts = {key: Column(values[keys == key]) for key in np.unique(keys).tolist()}

    def __iter__(self):
        return iter(self.parts.items())

    def get_group(self, key):
        return self.parts[int(key)]


class Frame:
    """A table of users and items, with the methods of pandas that are used."""

    def __init__(self, columns):
        self.columns = columns

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name):
        return Column(self.columns[name])

    def groupby(self, name):
        return {other: Groups(self.columns[name], values) for other, values in self.columns.items()}


class Interactions:
    """RecDataset without files."""

    uid_field, iid_field, user_num, item_num = "userID", "itemID", 12, 60

    def __init__(self, config, df=None):
        self.df = df
        self.inter_num = len(df) if df else 0

    def split(self):
        draw = np.random.RandomState(0)
        items = np.stack([draw.permutation(self.item_num)[:8] for _ in range(self.user_num)])
        parts = (items[:, :6], items[:, 6:7], items[:, 7:])
        users = [np.repeat(np.arange(self.user_num), part.shape[1]) for part in parts]
        return [self.copy(Frame({"userID": user, "itemID": part.flatten()})) for user, part in zip(users, parts, strict=True)]

    def copy(self, frame):
        return Interactions(None, frame)

    def shuffle(self):
        order = np.random.permutation(len(self.df))
        self.df = Frame({name: values[order] for name, values in self.df.columns.items()})

    def get_user_num(self):
        return self.user_num

    def get_item_num(self):
        return self.item_num

    def __len__(self):
        return len(self.df)

    def __getitem__(self, part):
        return Frame({name: values[part] for name, values in self.df.columns.items()})


np.float = float  # as in NumPy 1.23
module("scipy.sparse", coo_matrix=coo_matrix, dok_matrix=lambda shape, dtype: Matrix(np.zeros(shape), dtype), diags=lambda values: Matrix(np.diag(values)))
module("scipy", sparse=sys.modules["scipy.sparse"])
module("torch_scatter", scatter_add=scatter_add)
module("utils.dataset", RecDataset=Interactions)
settings = {
    "gpu_id": 0, "use_gpu": True, "seed": [999], "data_path": "../data/", "inter_splitting_label": "x_label", "filter_out_cod_start_users": True,
    "is_multimodal_model": True, "checkpoint_dir": "saved", "save_recommended_topk": True, "recommend_topk": "recommend_topk/",
    "embedding_size": 8, "weight_decay": 0.0, "req_training": True, "epochs": 2, "stopping_step": 20, "train_batch_size": 32, "learner": "adam",
    "learning_rate": 0.001, "learning_rate_scheduler": [0.96, 50], "eval_step": 1, "training_neg_sample_num": 1, "use_neg_sampling": True,
    "use_full_sampling": False, "NEG_PREFIX": "neg__", "USER_ID_FIELD": "userID", "ITEM_ID_FIELD": "itemID", "TIME_FIELD": "timestamp",
    "field_separator": "\t", "metrics": ["Recall", "NDCG", "Precision", "MAP"], "topk": [5, 10, 20, 50], "valid_metric": "Recall@20",
    "eval_batch_size": 4096, "end2end": False, "vision_feature_file": "image_feat.npy", "text_feature_file": "text_feat.npy", "n_ui_layers": 2,
    "n_layers": 1, "lambda_coeff": 0.9, "reg_weight": 0.0001, "knn_k": 10, "cl_loss": [0.01], "hyper_parameters": ["seed", "cl_loss"],
}
os.makedirs("configs", exist_ok=True)
with open("configs/overall.yaml", "w", encoding="utf-8") as file:
    yaml.dump(settings, file)
os.makedirs("../data/baby", exist_ok=True)
draw = np.random.RandomState(1)
np.save("../data/baby/image_feat.npy", draw.rand(60, 16))
np.save("../data/baby/text_feat.npy", draw.rand(60, 12))
for name in ("image", "text"):
    if os.path.exists(f"../data/baby/{name}_adj_10_True.pt"):
        os.remove(f"../data/baby/{name}_adj_10_True.pt")
sys.argv = ["main.py", "--model", "MGCN"]
runpy.run_path("main.py", run_name="__main__")
