"""Grids and puzzles as pictures."""
