import torch

from engine.registry import register

for _name in ("SGD", "Adam", "Adagrad"):
    register("optimizer", _name.lower())(getattr(torch.optim, _name))


@register("model", "mlp")
def mlp(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


@register("callback", "placement")
class Placement:
    def on_train_begin(self, runner):
        runner.device = "cuda" if torch.cuda.is_available() else "cpu"
        runner.model.to(runner.device)


@register("callback", "log")
class Log:
    def on_step_end(self, runner):
        print(runner.step, f"{runner.loss.item():.5f}")
