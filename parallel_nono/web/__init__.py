"""Nonograms in the browser: the live server, and the static page that solves by itself."""
