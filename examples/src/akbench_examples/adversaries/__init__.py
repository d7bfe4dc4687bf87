"""Agents that try to be judged better than their work or to get out of their sandbox, and honest ones beside them."""
