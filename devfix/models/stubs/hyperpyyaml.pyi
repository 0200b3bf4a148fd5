"""HyperPyYAML."""

# https://github.com/speechbrain/HyperPyYAML
def load_hyperpyyaml(yaml_stream, overrides=..., *args, **kwargs) -> Overlay: ...
