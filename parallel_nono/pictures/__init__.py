"""Grids and puzzles as pictures, in the terminal and in files; and pictures as puzzles."""
