"""ABV3-L1: self-describing assessment repositories, checked, set up, run and indexed.

The library follows the data: `description` reads agentbeats.toml, `check` collects findings,
`dependencies` says what a run needs, `experiments` lists the run configs, `execution` runs them,
`results` judges and aggregates what came out, `index` looks over many repositories.
"""

__version__ = "0.1.0"
