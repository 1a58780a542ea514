"""A name from a description in a text of any format, so that it says the name and nothing else.

Every text that names a robot, a link or a joint to a compiler, an interpreter, a browser or a
terminal takes the name from here.
"""

from __future__ import annotations

import hashlib
import html
import keyword
import re
import sys
import unicodedata
import warnings
from typing import Any

ORDERS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
"""Marks of the direction of writing, and of the order of bytes: they rearrange the text."""

LONGEST_IDENTIFIER = 100
"""Letters of an identifier; files are named by it, and their names have at most 255 bytes."""

C_WORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while".split()
)
CPP_WORDS = frozenset(
    "alignas alignof and asm bool catch char16_t char32_t char8_t class co_await co_return "
    "co_yield compl concept const_cast consteval constexpr constinit decltype delete "
    "dynamic_cast explicit export false friend mutable namespace new noexcept not nullptr "
    "operator or private protected public reinterpret_cast requires static_assert static_cast "
    "std template this thread_local throw true try typeid typename using virtual wchar_t xor "
    "linux unix mbdyn_ros".split()
)
HEADERS = frozenset(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
    "stdarg stdbool stddef stdint stdio stdlib string tgmath time wchar wctype".split()
)
TARGETS = frozenset(
    "all c clean depend dl edit_cache gcc help install list_install_components m package "
    "package_source preinstall pthread rebuild_cache rt run_tests test".split()
)
DEVICES = frozenset("aux con nul prn".split())
MODULES = frozenset(sys.stdlib_module_names) | frozenset(keyword.kwlist) | {"numpy"}
TAKEN = C_WORDS | CPP_WORDS | HEADERS | TARGETS | DEVICES | {name.lower() for name in MODULES}
"""Names that a file, a target of CMake, a library, a namespace of C++ or a module of Python has
already, in small."""

LATEX = {
    "\\": r"\textbackslash{}", "_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$",
    "{": r"\{", "}": r"\}", "^": r"\^{}", "~": r"\~{}", "<": r"\textless{}",
    ">": r"\textgreater{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
}  # fmt: skip


def forbidden(name: str) -> str | None:
    """The first character that no name may hold: one that controls, ends a line, or rearranges."""
    if name.isascii() and name.isprintable():
        return None  # most names: a look at each character costs a tenth of reading a robot
    return next((one for one in name if _controls(one)), None)


def plural(noun: str, count: int) -> str:
    """The form of a noun after that number.

    >>> plural("loop", 1), plural("loop", 0)
    ('loop', 'loops')
    """
    return noun if count == 1 else f"{noun}s"


def in_text(text: object) -> str:
    """One line of plain text, also in a terminal.

    >>> in_text("arm\\r\\x1b[31m")
    'arm__[31m'
    """
    return "".join("_" if _controls(one) else one for one in str(text))


def in_c_comment(name: str) -> str:
    """A text that ends no comment, starts none, and joins no lines.

    >>> in_c_comment("*/ int x; /* ??/")
    '* / int x; / * ? ?/'
    """
    clean = in_text(name).replace("\\", "_")
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", clean)


def in_c_string(text: str) -> str:
    """A text as a string of C and C++, between its quotes.

    >>> print(in_c_string('arm "1"?\\n'))
    "arm \\"1\\"\\077\\012"
    """
    plain = "".join(
        chr(one) if 32 <= one < 127 and chr(one) not in '\\"?' else f"\\{one:03o}"
        for one in text.encode("utf-8", "surrogatepass")
    )
    return '"' + plain.replace("\\042", '\\"') + '"'


def in_python_string(name: str) -> str:
    """A text between any quotes of Python.

    >>> in_python_string('arm' + '"' * 3 + '\\\\')
    "arm'''/"
    """
    return in_text(name).replace("\\", "/").replace('"', "'")


def identifier(name: str) -> str:
    """A name as part of an identifier of C; a long one is cut, and ends with its hash.

    >>> identifier("left-wrist 2")
    'left_wrist_2'
    """
    clean = re.sub(r"[^A-Za-z0-9_]", "_", name) or "robot"
    if len(clean) <= LONGEST_IDENTIFIER:
        return clean
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{clean[: LONGEST_IDENTIFIER - 9]}_{digest}"


def library_name(name: str) -> str:
    """A name for C, CMake, Python and files at once, taken by none of them.

    >>> library_name("arm"), library_name("numpy"), library_name("3-DoF")
    ('arm', 'robot_numpy', 'robot_3_DoF')
    """
    clean = identifier(name)
    return f"robot_{clean}" if clean.lower() in TAKEN or not clean[0].isalpha() else clean


def in_markdown(text: object) -> str:
    """Words of Markdown, without links, pictures, tags, formulas or columns of a table.

    >>> in_markdown("<b>x</b> | ![i](http://x) a_b")
    '&lt;b>x&lt;/b> \\\\| \\\\!\\\\[i\\\\](http:\\\\//x) a_b'
    """
    clean = re.sub(r"([\\`*\[\]{}!|~$]|(?<![^\W_])_|_(?![^\W_])|(?<=:)//|^[#>+-])", r"\\\1",
                   in_text(text).replace("&", "&amp;"))  # fmt: skip
    return clean.replace("<", "&lt;")


def in_markdown_code(name: str) -> str:
    """Markdown that shows a name as code.

    >>> in_markdown_code("joint_`1")
    "`joint_'1`"
    """
    return f"`{in_text(name).replace('`', chr(39))}`"


def in_latex(text: str) -> str:
    """Words of LaTeX.

    >>> in_latex("joint_1 50%")
    'joint\\\\_1 50\\\\%'
    """
    return "".join(LATEX.get(one, one) for one in in_text(text))


def in_html(text: object) -> str:
    """Words of HTML, also between quotes.

    >>> in_html("<a & b>")
    '&lt;a &amp; b&gt;'
    """
    return html.escape(in_text(text))


def _controls(one: str) -> bool:
    return one in ORDERS or unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp")


def former_name(new: str) -> Any:
    """A read-only attribute that warns and gives the attribute `new`.

    >>> class Pulse:
    ...     displacement = 0.1
    ...     way = former_name("displacement")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Pulse().way, str(caught[0].message)
    (0.1, '`Pulse.way` is deprecated; use `Pulse.displacement`')
    """
    return _FormerName(new)


class _FormerName:
    def __init__(self, new: str) -> None:
        self._new, self._old = new, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._old = name

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        kind = owner.__name__
        warnings.warn(
            f"`{kind}.{self._old}` is deprecated; use `{kind}.{self._new}`", DeprecationWarning, 2
        )
        return getattr(instance, self._new)
