"""The durable record of experiments: files are the truth, SQLite is an index over them."""
