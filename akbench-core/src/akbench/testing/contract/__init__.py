"""Contract tests: pytest classes that try an adapter through the core's own drivers. Import them from
`akbench.testing`; this package needs pytest (``akbench-core[testing]``).
"""

import pytest

_KINDS = ("agent", "checks", "evaluator", "plugin", "runtime", "sandbox")
pytest.register_assert_rewrite(*(f"akbench.testing.contract.{kind}" for kind in _KINDS))
