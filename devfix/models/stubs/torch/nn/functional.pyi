"""``torch.nn.functional``: what the generated table does not say."""

# https://docs.pytorch.org/docs/stable/nn.functional.html
def __getattr__(*args, **kwargs) -> Of[args]: ...

# https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html
def ctc_loss(log_probs: On, targets, input_lengths, target_lengths, blank=..., reduction=..., zero_infinity=...) -> Reduced[reduction]: ...

# https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html
def one_hot(input: On, num_classes=...) -> Vector: ...
