"""For a quicker build of interface packages: each definition is parsed once.

Every generator of ROS parses all definitions again, which takes half of its time. Here the first
keeps what it parsed for the others, in the folder that its arguments are in. Use it by putting its
folder in PYTHONPATH while CMake builds.
"""

import sys

ARGUMENTS = "--generator-arguments-file"

if ARGUMENTS in sys.orig_argv:
    import hashlib
    import os
    import pickle
    from pathlib import Path

    from rosidl_parser import parser

    folder = Path(sys.orig_argv[sys.orig_argv.index(ARGUMENTS) + 1]).parent / "parsed"
    parse = parser.get_ast_from_idl_string

    def parsed_once(text):
        """The syntax tree of a definition."""
        path = folder / hashlib.sha256(text.encode()).hexdigest()
        if path.exists():
            return pickle.loads(path.read_bytes())
        tree = parse(text)
        folder.mkdir(exist_ok=True)
        own = path.with_suffix(f".{os.getpid()}")  # others may write the same meanwhile
        own.write_bytes(pickle.dumps(tree))
        own.replace(path)
        return tree

    parser.get_ast_from_idl_string = parsed_once
