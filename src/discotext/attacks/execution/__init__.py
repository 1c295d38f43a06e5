"""Who does the work: this process, worker processes, or a Ray cluster."""
