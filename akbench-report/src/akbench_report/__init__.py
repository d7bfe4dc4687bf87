"""Static HTML reports of AK-Bench experiments, and the comparisons in them."""
