"""Functions of labels."""

# https://docs.monai.io/en/stable/networks.html#monai.networks.utils.one_hot
def one_hot(labels: On, *args, **kwargs) -> On: ...
