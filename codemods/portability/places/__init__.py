"""The places of a file that require CUDA, and the conditions around them.

May import what the rest of :mod:`codemods.portability` may import, and its helpers.
"""
