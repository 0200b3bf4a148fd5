"""Operations on sparse tensors that the generated table does not know."""

# https://docs.pytorch.org/docs/stable/generated/torch.sparse.sampled_addmm.html
def sampled_addmm(input: On, mat1: On, mat2: On, *, beta=..., alpha=..., out: Out = ...) -> On: ...

# https://docs.pytorch.org/docs/stable/generated/torch.sparse.sum.html
def sum(input: On, dim=..., dtype=...) -> Reduced[dim]: ...
