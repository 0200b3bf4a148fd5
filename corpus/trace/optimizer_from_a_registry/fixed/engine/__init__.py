from engine import parts  # noqa: F401  (fills the registry)
