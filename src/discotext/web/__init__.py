"""The page of `discotext serve`: one text, its prediction, and attacks on it as they happen. Needs the extra `web`."""
