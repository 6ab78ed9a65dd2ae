"""`python -m icub_learning.cli` is `icub-learning`."""

import sys

from icub_learning.cli.main import main

sys.exit(main())
