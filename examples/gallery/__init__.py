"""Short programs, one subject each, with a picture each: `python -m examples.gallery.arm_torques`.

Each writes its picture into the folder in which it runs; docs/gallery.md shows them all.
"""

from pathlib import Path

import matplotlib.pyplot as plt

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
