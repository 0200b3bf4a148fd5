"""Detectron2."""
