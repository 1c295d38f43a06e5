"""The main job: attack a victim on data, keep a record of every text, and tell what it all means."""
