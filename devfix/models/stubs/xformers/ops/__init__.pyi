"""Memory-efficient attention."""

# https://facebookresearch.github.io/xformers/components/ops.html
def memory_efficient_attention(query: On, key: On, value: On, *args, **kwargs) -> On: ...
