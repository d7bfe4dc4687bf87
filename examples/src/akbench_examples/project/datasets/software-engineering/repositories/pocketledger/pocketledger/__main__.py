"""``python -m pocketledger``."""

import sys

from pocketledger.cli import main

sys.exit(main())
