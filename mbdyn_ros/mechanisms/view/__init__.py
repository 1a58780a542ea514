"""Pictures and pages of mechanisms."""
