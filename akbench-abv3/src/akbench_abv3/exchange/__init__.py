"""Both ways between AK-Bench and ABV3-L1. The only part that imports `akbench`; everything else stands alone.

It is registered with AK-Bench by entry points and loaded by nothing else: without akbench-core it is never imported.
"""
