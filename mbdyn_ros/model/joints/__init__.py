"""Types of joints, and the turns that some of them make."""
