import sys
import types

import numpy as np


class Environment:
    def __init__(self, cfg):
        self.shape, self.length, self.draw = cfg.obs_shape, cfg.episode_length, np.random.RandomState(0)

    def observe(self):
        return self.draw.rand(*self.shape).astype(np.float32)

    def reset(self):
        self.steps = 0
        return self.observe()

    def step(self, action):
        self.steps += 1
        return self.observe(), float(action.sum()), self.steps == self.length, {}


class Logger:
    video = None

    def __init__(self, folder, cfg):
        print(cfg.task)

    def log(self, values, category):
        print(category, {name: value for name, value in values.items() if name != "total_time"})

    def finish(self, agent):
        print("end")


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("cfg", parse_cfg=None)
module("env", make_env=Environment)
module("logger", Logger=Logger)
import train

for modality, shape in (("state", (5,)), ("pixels", (9, 84, 84))):
    train.train(types.SimpleNamespace(
        task="walker-walk", modality=modality, exp_name="tiny", seed=1, device="cuda", obs_shape=shape, action_dim=2, action_repeat=2,
        frame_stack=3, img_size=84, num_channels=4, latent_dim=8, enc_dim=16, mlp_dim=16, episode_length=6, train_steps=12,
        max_buffer_size=100, seed_steps=2, discount=0.99, horizon=2, iterations=2, num_samples=16, num_elites=4, mixture_coef=0.25,
        min_std=0.05, temperature=0.5, momentum=0.1, std_schedule="linear(0.5, 0.05, 10)", horizon_schedule="linear(1, 2, 10)",
        batch_size=3, lr=1e-3, reward_coef=0.5, value_coef=0.1, consistency_coef=2, rho=0.5, grad_clip_norm=10, update_freq=2, tau=0.01,
        per_alpha=0.6, per_beta=0.4, eval_freq=12, eval_episodes=1,
    ))
