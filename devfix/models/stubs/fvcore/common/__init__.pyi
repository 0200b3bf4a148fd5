"""fvcore."""
