"""What runs on Spark: fuzzing and sweeps, a block of work a task, in batches so that answers come while the rest goes on."""
