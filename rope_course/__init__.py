"""Lessons on Rotary Position Embedding, built on `rope_ref`: figures, exercises, and a trained head.

The notebooks call them. They need matplotlib and Jupyter, which come with the extra ``rope_ref[notebooks]``.
"""

__all__ = []
