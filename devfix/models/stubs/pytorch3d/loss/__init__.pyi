"""Losses on points."""

# https://pytorch3d.readthedocs.io/en/latest/modules/loss.html
def chamfer_distance(x: On, y: On, *args, **kwargs) -> tuple[Any, Any]: ...
