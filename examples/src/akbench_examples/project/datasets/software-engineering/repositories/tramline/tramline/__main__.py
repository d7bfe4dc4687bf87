"""``python -m tramline``."""

import sys

from tramline.cli import main

sys.exit(main())
