"""The cure of a message: its own last words, else that of its form."""

from __future__ import annotations

import re

VERBS = (
    "activate|add|ask|attach|begin|bring|build|call|change|check|choose|close|compile|configure|connect|"
    "convert|copy|correct|count|create|cut|declare|define|delete|describe|divide|draw|drive|drop|"
    "exchange|expand|export|find|fit|fix|give|hang|hold|import|include|increase|insert|install|join|"
    "keep|lead|leave|let|list|load|lock|look|lower|make|mark|measure|merge|model|move|name|omit|"
    "open|pass|pause|pickle|place|prepend|publish|put|raise|read|record|reduce|remove|rename|"
    "repeat|replace|reset|restart|restore|run|save|scale|see|select|send|set|shift|shorten|"
    "simplify|simulate|sort|source|specify|spell|split|start|state|stop|swap|switch|take|try|turn|"
    "use|wait|widen|write"
)
"""Verbs with which the cure in a message begins."""

OWN = re.compile(
    rf"(?:^|[;:.] |, or |\) )((?:to [^,;:]{{3,60}}, )?(?:Next: |then |else |first |please )?"
    rf"(?:{VERBS})\b.*|`?pip install.*|sudo apt install.*|a lower .*"
    r"|--\S+ (?:has|computes|brings) .*)",
    re.IGNORECASE | re.DOTALL,
)
"""The cure that a message gives in its last words."""

FORMS = (
    (r"did you mean|there (?:is|are) no .*(?:; |, )(?:there are|it has|the \w+(?: \w+)* are|its )"
     r"|has no .*; (?:there are|it has)|is not one of|which is not a|is called .* now|home names"
     r"|names …; there|of no joint|no law and no file|needs …; there are",
     "Use one of the names that the message lists."),
    (r"twice|two formulas|appears twice|would be called",
     "Keep one of the two."),
    (r"go(?:es)? with|belongs to|cannot be used together|cannot be used with|do not go with"
     r"|writes no --|has a --plot|--output (?:has|need)|is in the file of|does not fit …",
     "Add the option that the message names, or leave out the one that it begins with."),
    (r"NaN|infini|finite|not a number|too large for|have no value|has no value|is nan",
     "Look for the first number that is NaN, infinite or very large; the message names its place."),
    (r"cannot be written|wrote no|is not writable|belongs to user|others may write|folder|already",
     "Write into a folder that exists, belongs to you and has room."),
    (r"cannot be read|no such file|no file|is empty|standard input is closed|does not exist"
     r"|holds no|not YAML|not valid|not a valid|is not a table|the bytes|no triangles|is not XML"
     r"|not closed|nested too deeply",
     "Check the path, and open the file in an editor: it is missing, cut off or of another "
     "format."),
    (r"compil|library does not load|does not load|hangs|not done|CasADi's interpreter|no answer in"
     r"|and was ended|batches run one state|reported success|a program of … inputs|is no … in it",
     "Install GCC or Clang with its C++ compiler; `mbdyn doctor` reports what is missing."),
    (r"pip install|not installed|apt install|needs the package|or later",
     "Run the command that the message ends with."),
    (r"too many|at most|more than …|too large|larger than|most …|longer than|over … s makes"
     r"|are too few|larger|multiply itself|endless|takes more than|asks for",
     "Stay within the limit that the message gives."),
    (r"singular|dead cent|rests|stands still|determine|freedom|no momentum|has no mass|without mass"
     r"|no mass|no finite answer|no eigenvalues|undetermined",
     "Start away from the singular position, choose other independent joints, or give the massless "
     "link an inertia; `mbdyn inspect` shows the choice."),
    (r"cannot be closed|cannot be locked|loops? (?:stay|close|do not)|no loops close|gap of"
     r"|cannot be assembled|keeps the loops|leaves a gap|would open|disagree",
     "Give a home near which the loops close, or correct their origins or lengths."),
    (r"fixed to the world|no joint moves|nothing moves|does not move|is fixed|fixed and has no"
     r"|nothing is felt|no motion from home|does nothing|not actuated|nothing to",
     "Name a link or joint that moves."),
    (r"joint_states|stamp|jump|tolerance|disagreement|of the others put it|joint states came"
     r"|no node|not measured|by the node's clock|the robot reacts|ended … s ago|comes? to rest"
     r"|follows no"
     r"|the message was read|where the (?:reference|others)|from where",
     "Correct what publishes the topic; if the measurement is right, raise the parameter that the "
     "message names."),
    (r"quaternion|floating|spherical|trees|without quaternions|several coordinates|one coordinate"
     r"|degree of freedom|polynomial|closed form|revolute or prismatic|turns by a|planar",
     "Use a robot of the kind that the message names; docs/joints.md lists what each joint "
     "allows."),
    (r"at a speed of|no speed keeps|accelerations does not bring",
     "Lower the speed there, or widen the limits."),
    (r"there is no|no target is called|no column|no message is on|no start for",
     "Correct the name; `mbdyn inspect` lists those of a robot, the first line those of a table."),
    (r"browser",
     "Start that browser by itself to see why it fails, or install another one."),
    (r"must|expected|not |needs?\b|shape|takes|neither|such as|numbers|instead|different|only|but|"
     r"has |have |lacks|gives no|is |are |begins? at|starts? at|=|returns|goes|given|states|"
     r"sides|run from|measures|names no|elements",
     "Give the value in the form, unit and range that the message names."),
    (r"; …$|: …$|up to there",
     "Do what the message says after its colon."),
)  # fmt: skip
"""Forms of messages without a cure in their words, and what cures them; the first that fits."""

KINDS = {
    "AttributeError": "Correct the name: `dir()` lists those of a module or an object.",
    "ExpressionError": "Correct that line of the xacro file, or expand it with xacro itself.",
    "NoCrossingError": "Give efforts that take the motion past the point, or end it before.",
    "SimulationError": "Shorten the steps, lower the efforts, or start at another state.",
    "DisagreementError": "Compare the two libraries' models: one reads the robot differently.",
    "ContactError": "Simulate in equal steps, with a `Stepper` or with `--rate`.",
}
"""Cures of errors whose causes are many."""


def cure(text: str, kind: str) -> str:
    """What to do about a message; empty where nothing says so.

    >>> cure("…: the file is empty; give a robot", "ModelError")
    'Give a robot.'
    """
    own = OWN.search(text)
    if own:
        words = own[1].removeprefix("Next: ").rstrip(".")
        if words.startswith(("pip ", "sudo ", "source ")):
            return f"Type `{words}`."
        return f"{words[0].upper()}{words[1:]}."
    if kind in KINDS:
        return KINDS[kind]
    return next((what for form, what in FORMS if re.search(form, text, re.IGNORECASE)), "")
