"""Wrong patches that a verdict must refuse, and right repairs that it must accept."""
