"""Sentence Transformers: models choose their device."""

# https://sbert.net/docs/package_reference/sentence_transformer/SentenceTransformer.html
def SentenceTransformer(*args, **kwargs) -> Escapes: ...

# https://sbert.net/docs/package_reference/cross_encoder/cross_encoder.html
def CrossEncoder(*args, **kwargs) -> Escapes: ...
