"""Callers: how any user of a library calls its functions: what the arguments are, and on which device."""
