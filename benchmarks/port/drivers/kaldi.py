import configparser
import os

import core
import numpy as np

LSTM = {
    "arch_name": "LSTM_cudnn_layers", "arch_library": "neural_networks", "arch_class": "LSTM", "arch_freeze": "False", "arch_seq_model": "True",
    "lstm_lay": "12,12", "lstm_drop": "0.2,0.2", "lstm_use_laynorm_inp": "False", "lstm_use_batchnorm_inp": "False",
    "lstm_use_laynorm": "False,False", "lstm_use_batchnorm": "True,True", "lstm_bidir": "True", "lstm_act": "tanh,tanh", "lstm_orthinit": "True",
}
MLP = {
    "arch_name": "MLP_layers", "arch_library": "neural_networks", "arch_class": "MLP", "arch_freeze": "False", "arch_seq_model": "False",
    "dnn_lay": "7", "dnn_drop": "0.0", "dnn_use_laynorm_inp": "False", "dnn_use_batchnorm_inp": "False", "dnn_use_batchnorm": "False",
    "dnn_use_laynorm": "False", "dnn_act": "softmax",
}
RMSPROP = {
    "arch_lr": "0.0016", "arch_opt": "rmsprop", "opt_momentum": "0.0", "opt_alpha": "0.95", "opt_eps": "1e-8", "opt_centered": "False",
    "opt_weight_decay": "0.0",
}
MODEL = """out_dnn1=compute(LSTM_cudnn_layers,mfcc)
out_dnn2=compute(MLP_layers,out_dnn1)
loss_final=cost_nll(out_dnn2,lab_cd)
err_final=cost_err(out_dnn2,lab_cd)"""


def read_lab_fea(cfg_file, fea_only, shared_list, output_folder):
    """Make six sentences instead of reading them with Kaldi."""
    draw = np.random.RandomState(0)
    lengths = draw.randint(5, 9, 6)
    labels = draw.randint(0, 7, (lengths.sum(), 1))
    features = draw.randn(lengths.sum(), 10) + labels
    fea_dict = {"mfcc": ["mfcc", "feats.scp", "", "0", "0", 0, 10, 10]}
    lab_dict = {"lab_cd": ["lab_cd", "ali", "ali-to-pdf", 10]}
    arch_dict = {
        "LSTM_cudnn_layers": ["architecture1", "LSTM_cudnn_layers", True], "MLP_layers": ["architecture2", "MLP_layers", False],
    }
    names = [f"sentence{number}" for number in range(6)]
    shared_list += [names, np.cumsum(lengths), fea_dict, lab_dict, arch_dict, np.concatenate([features, labels], 1)]


def write_config(name, to_do, pretrained):
    config = configparser.ConfigParser()
    config["exp"] = {
        "to_do": to_do, "out_info": f"exp/{name}.info", "out_folder": "exp", "seed": "2234", "use_cuda": "True", "multi_gpu": "False",
        "save_gpumem": "False", "production": "False",
    }
    config["batches"] = {"batch_size_train": "2", "batch_size_valid": "2"}
    for number, layers in enumerate((LSTM, MLP), 1):
        weights = f"exp/{pretrained}_architecture{number}.pkl" if pretrained else "none"
        config[f"architecture{number}"] = {**layers, **RMSPROP, "arch_pretrain_file": weights}
    config["model"] = {"model": MODEL}
    config["forward"] = {
        "forward_out": "out_dnn2", "normalize_posteriors": "False", "normalize_with_counts_from": "none", "require_decoding": "False",
    }
    with open(f"exp/{name}.cfg", "w", encoding="utf-8") as file:
        config.write(file)
    return f"exp/{name}.cfg"


core.read_lab_fea = read_lab_fea
os.makedirs("exp", exist_ok=True)
configs = [write_config("train0", "train", None), write_config("train1", "train", "train0"), write_config("valid1", "valid", "train1")]
data = [None] * 6
for number, config in enumerate(configs):
    following = configs[min(number + 1, 2)]
    names, values, ends, fea_dict, lab_dict, arch_dict = data
    data = core.run_nn(names, values, ends, fea_dict, lab_dict, arch_dict, config, number == 0, following)
    with open(config.replace(".cfg", ".info"), encoding="utf-8") as file:
        print(file.read())
