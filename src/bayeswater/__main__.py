"""``python -m bayeswater``: the command ``bayeswater``, where only the package is at hand."""

import sys

from bayeswater.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
