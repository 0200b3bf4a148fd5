from plugins import PLUGINS
from trainer import Trainer

if __name__ == "__main__":
    trainer = Trainer(seed=1)
    for name, options in {"ema": {"decay": 0.9}, "report": {}}.items():
        trainer.attach(PLUGINS[name](**options))
    trainer.start(4)
