"""Routes, one file per resource; each exports `router`. `assembly.py` puts them together."""
