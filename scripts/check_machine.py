"""Say in one line what `make` is missing on this machine, before anything is downloaded."""

# No syntax younger than Python 3.6, so that an old interpreter can say that it is old.
import os
import platform
import shutil
import sys
import sysconfig


def complaint():
    """Return what is missing and how to get it, or None."""
    if not (3, 10) <= sys.version_info[:2] <= (3, 14):
        return (
            "the ROS 2 Kilted wheels exist for Python 3.10 to 3.14, this is "
            + platform.python_version()
            + ": name another with PYTHON=..."
        )
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return (
            "the ROS 2 Kilted wheels exist for Linux on x86_64 only: "
            "use a full ROS 2 (see README.md)"
        )
    try:
        import ensurepip  # noqa: F401  (Debian ships it in a package of its own)
        import venv  # noqa: F401
    except ImportError:
        return "Python's venv module is missing: sudo apt install python3-venv"
    if not (shutil.which("cc") and shutil.which("c++")):
        return "a C and C++ compiler is missing: sudo apt install build-essential"
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        return (
            "Python.h, against which the ROS interfaces are compiled, is missing: "
            "sudo apt install python3-dev"
        )
    return None


if __name__ == "__main__":
    missing = complaint()
    sys.exit("mbdyn_ros: " + missing if missing else None)
