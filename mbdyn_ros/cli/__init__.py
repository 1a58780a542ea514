"""The command line `mbdyn`: one file a verb."""
