"""`python -m fastcrf` is `fastcrf`."""

from fastcrf.cli.start import main

main()
