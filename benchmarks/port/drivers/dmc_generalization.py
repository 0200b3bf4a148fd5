import sys
import types

import numpy as np


class Environment:
    _max_episode_steps = 4

    def __init__(self, seed, image_size, **options):
        self.draw = np.random.RandomState(seed)
        self.observation_space = types.SimpleNamespace(shape=(9, image_size, image_size))
        self.action_space = types.SimpleNamespace(shape=(2,), sample=lambda: self.draw.rand(2).astype(np.float32))

    def observe(self):
        return self.draw.randint(0, 255, self.observation_space.shape).astype(np.uint8)

    def reset(self):
        self.steps = 0
        return self.observe()

    def step(self, action):
        self.steps += 1
        return self.observe(), float(np.sum(action)), self.steps == self._max_episode_steps, {}


class Video:
    def __init__(self, folder, height, width):
        print(folder is None, height, width)

    def init(self, enabled=True):
        pass

    def record(self, env):
        pass

    def save(self, name):
        pass


class Logger:
    def __init__(self, folder):
        print("log")

    def log(self, name, value, step):
        if name != "train/duration":
            print(step, name, float(value))

    def dump(self, step):
        pass


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("env.wrappers", make_env=lambda **options: Environment(**options))
module("video", VideoRecorder=Video)
module("logger", Logger=Logger)
import arguments
import train
import utils

utils.write_info = print
sys.argv = [
    "train.py", "--algorithm", "curl", "--train_steps", "6", "--init_steps", "4", "--batch_size", "2", "--hidden_dim", "16",
    "--episode_length", "4", "--num_filters", "4", "--projection_dim", "8", "--num_shared_layers", "2", "--eval_mode", "none",
    "--eval_freq", "4", "--eval_episodes", "1", "--seed", "1",
]
train.main(arguments.parse_args())
