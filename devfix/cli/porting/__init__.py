"""The gate of ``devfix port``, and the settings that it lists."""
