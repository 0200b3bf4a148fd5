"""A scripted client, without a model, repairs broken programs by the answers of ``devfix diagnose``."""
