"""Losses of embeddings: they move the labels, and their own weights, to the embeddings."""

# https://github.com/KevinMusgrave/pytorch-metric-learning, losses/base_metric_loss_function.py
class __getattr__(Loss):
    def __call__(self, embeddings: On, labels=..., indices_tuple=..., ref_emb: On = ..., ref_labels=...) -> On: ...
# https://github.com/KevinMusgrave/pytorch-metric-learning, losses/self_supervised_loss.py
class SelfSupervisedLoss(Loss):
    def __call__(self, embeddings: On, ref_emb: On) -> On: ...
