"""Configurations, whose settings are known where the program sets them."""
