"""What ships with the core and registers through the same door as everything else."""
