"""Miners choose pairs and triplets of a batch; they move the labels to the embeddings."""

# https://github.com/KevinMusgrave/pytorch-metric-learning, miners/base_miner.py
class __getattr__(Loss):
    def __call__(self, embeddings: On, labels, ref_emb: On = ..., ref_labels=...) -> Any: ...
