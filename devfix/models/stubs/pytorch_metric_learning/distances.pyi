"""Distances between embeddings: modules without weights."""

# https://github.com/KevinMusgrave/pytorch-metric-learning, distances/base_distance.py
class __getattr__(Loss):
    def __call__(self, query_emb: On, ref_emb: On = ...) -> On: ...
