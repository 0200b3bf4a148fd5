"""Connectionist temporal classification by Baidu's warp-ctc: labels and lengths stay on the CPU."""

# https://github.com/SeanNaren/warp-ctc/blob/pytorch_bindings/pytorch_binding/warpctc_pytorch/__init__.py
class CTCLoss(Loss):
    def __call__(self, acts, labels: Host, act_lens: Host, label_lens: Host) -> Number: ...
