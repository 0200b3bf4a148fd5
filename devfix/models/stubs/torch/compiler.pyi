"""The compiler; a program is followed as it runs without one."""

# https://docs.pytorch.org/docs/stable/generated/torch.compiler.is_compiling.html
def is_compiling() -> Literal[False]: ...

# https://docs.pytorch.org/docs/stable/generated/torch.compiler.is_exporting.html
def is_exporting() -> Literal[False]: ...
