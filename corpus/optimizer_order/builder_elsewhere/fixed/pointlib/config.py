import torch


class CfgNode(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)

    def merge_from_list(self, opts):
        for key, value in zip(opts[::2], opts[1::2]):
            self[key] = type(self[key])(value)


def get_cfg():
    return CfgNode(
        SEED=6,
        DEVICE="cuda" if torch.cuda.is_available() else "cpu",
        OPTIM="sgd",
        BASE_LR=0.05,
        MAX_ITER=5,
        NUM_CLASSES=3,
    )
