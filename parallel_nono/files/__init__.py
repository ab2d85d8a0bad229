"""Where puzzles lie and how they come from there: folders, archives, packed sets, other machines, web sites.

`reading.py` is the way in: bytes of any kind to puzzles, one by one or as puzzle sets.
"""
