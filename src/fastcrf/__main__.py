"""`python -m fastcrf` is `fastcrf`."""

from fastcrf.cli.main import main

main()
