"""Harbor task folders."""
