"""`python -m mbdyn_ros` is `mbdyn`."""

from .cli import main

main(prog_name="mbdyn")
