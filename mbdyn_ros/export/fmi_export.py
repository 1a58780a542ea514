"""A robot as a unit of FMI 3.0 (FMU): one file that Simulink, Dymola, AMESim, OpenModelica open.

Inside: `modelDescription.xml`, `sources/` with the robot's equations in C99 (`c_library`) and
`fmi/fmu.c`, which calls them, and `binaries/` with the library for this machine. Interfaces: model
exchange (the importer integrates) and co-simulation (the unit does). Inputs are the efforts of the
actuated joints, outputs and states the positions and velocities of the independent ones.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

from ..compiler.gcc import RUNTIME, CompilationError, Toolchain, toolchain
from ..errors import InputError, shown, writing
from ..model.model import Array
from .c_export import MARK, Exported
from .c_library import CLibrary, header, library

SOURCE = Path(__file__).parent / "fmi" / "fmu.c"

STEP = "dop853.h", "dop853_table.h"
"""The headers by which co-simulation steps, as `simulate` does."""

BASE_UNITS = {
    "m": {"m": 1}, "m/s": {"m": 1, "s": -1}, "m/s^2": {"m": 1, "s": -2},
    "rad": {"rad": 1}, "rad/s": {"rad": 1, "s": -1}, "rad/s^2": {"rad": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2}, "N m": {"kg": 1, "m": 2, "s": -2},
}  # fmt: skip
"""Exponents of base units, by our units."""

FLAGS = ("-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")

EPOCH = (1980, 1, 1, 0, 0, 0)
"""Time of all files in the unit: equal robots make equal units."""


def export_fmu(
    file: str | os.PathLike[str], describe: Callable[[], CLibrary], home: Array
) -> Exported:
    """Write the unit of a robot that starts at rest at `home`, described once the file may be."""
    target = _required_target(file)
    described = describe()
    name = described.prefix
    acceleration = described.function("forward_dynamics")
    if acceleration is None or described.nq != described.nv:
        raise InputError(
            f"{described.robot}: a unit of FMI integrates joints of one coordinate each whose "
            "accelerations are determined: no floating base, no spherical joint, no massless link. "
            "Export C with `mbdyn codegen`, or fix the base"
        )
    sources = {
        f"{name}.h": f"/* {name}.h: {MARK} */\n" + header(described),
        f"{name}.c": f"/* {name}.c: {MARK} */\n" + library(described),
        "fmu.c": SOURCE.read_text(encoding="utf-8"),
        **{one: (RUNTIME / one).read_text(encoding="utf-8") for one in STEP},
    }
    token = uuid.UUID(hashlib.md5("".join(sources.values()).encode()).hexdigest())
    sources["fmu_model.h"] = _constants(described, acceleration.name, f"{{{token}}}", home)
    contents = {
        "modelDescription.xml": _description(described, f"{{{token}}}", home).encode(),
        "sources/buildDescription.xml": _build(name, sources).encode(),
        **{f"sources/{one}": text.encode() for one, text in sources.items()},
    }
    omitted = []
    machine, binary = _binary(sources, name)
    if binary is None:
        omitted.append("binary: no C compiler was found; the importer compiles the sources")
    else:
        contents[f"binaries/{machine}"] = binary
    with writing(target):
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for one, content in contents.items():
                archive.writestr(zipfile.ZipInfo(one, EPOCH), content, zipfile.ZIP_DEFLATED)
    return Exported((target,), (acceleration.name,), tuple(omitted))


def _required_target(file: str | os.PathLike[str]) -> Path:
    if not isinstance(file, (str, os.PathLike)) or not os.fspath(file).lower().endswith(".fmu"):
        raise InputError(f"the unit of FMI must be a file that ends with .fmu; it is {shown(file)}")
    return Path(os.fspath(file))


def _constants(described: CLibrary, accelerations: str, token: str, home: Array) -> str:
    """The header by which `fmu.c` knows the robot."""
    name, loops = described.prefix, described.closing is not None
    return "\n".join([
        f"/* fmu_model.h: {MARK} */",
        f'#include "{name}.h"',
        f"#define NQ {described.nq}",
        f"#define NV {described.nv}",
        f"#define EFFORTS {len(described.efforts)}",
        f'#define TOKEN "{token}"',
        f"#define HOME {', '.join(repr(float(one)) for one in home)}",
        f"#define LOOPS {f'{name}_loops loops;' if loops else ''}",
        f"#define START_LOOPS(self) {f'{name}_home(&(self)->loops)' if loops else '(void)(self)'}",
        "#define ACCELERATIONS(self, q, v, effort, a) \\",
        f"  {accelerations}({'&(self)->loops, ' if loops else ''}q, v, effort, a)",
        '#define NOT_FINITE "a loop cannot be closed there, or a number is not finite"',
        "",
    ])  # fmt: skip


def _variables(described: CLibrary, home: Array) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Name, unit and attributes of all variables after the time, by their value references."""
    for label, unit in described.efforts:
        yield f"effort/{label}", unit, {"causality": "input", "start": 0.0}
    state = {"causality": "output", "initial": "exact"}
    for (label, unit), start in zip(described.positions, home.tolist(), strict=True):
        yield f"position/{label}", unit, state | {"start": start}
    for label, unit, _ in described.velocities:
        yield f"velocity/{label}", unit, state | {"start": 0.0}
    first = 1 + len(described.efforts)
    for k, (label, unit, _) in enumerate(described.velocities):
        yield f"der(position/{label})", unit, {"causality": "local", "derivative": first + k}
    first += described.nq
    for k, (label, _, unit) in enumerate(described.velocities):
        yield f"acceleration/{label}", unit, {"causality": "local", "derivative": first + k}


def _description(described: CLibrary, token: str, home: Array) -> str:
    """modelDescription.xml."""
    name, states = described.prefix, described.nq + described.nv
    variables = list(_variables(described, home))
    rows = [
        _tag("Float64", name=one, valueReference=k, variability="continuous", unit=unit, **more)
        for k, (one, unit, more) in enumerate(variables, start=1)
    ]
    units = [
        f"    <Unit name={quoteattr(one)}>{_tag('BaseUnit', **BASE_UNITS[one])}</Unit>"
        for one in dict.fromkeys(unit for _, unit, _ in variables)
    ]
    first = 1 + len(described.efforts)
    outputs = range(first, first + states)
    rates = range(first + states, first + 2 * states)
    structure = [
        *(_tag("Output", valueReference=k) for k in outputs),
        *(_tag("ContinuousStateDerivative", valueReference=k) for k in rates),
        *(_tag("InitialUnknown", valueReference=k) for k in rates),
    ]
    return "\n".join([
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<fmiModelDescription fmiVersion="3.0" modelName={quoteattr(described.robot)} '
        f'instantiationToken="{token}" generationTool="mbdyn_ros">',
        f'  <ModelExchange modelIdentifier="{name}"/>',
        f'  <CoSimulation modelIdentifier="{name}" canHandleVariableCommunicationStepSize="true"/>',
        "  <UnitDefinitions>", *units, "  </UnitDefinitions>",
        '  <DefaultExperiment startTime="0" stopTime="1" tolerance="1e-9" stepSize="0.01"/>',
        "  <ModelVariables>",
        '    <Float64 name="time" valueReference="0" causality="independent" '
        'variability="continuous"/>',
        *(f"    {row}" for row in rows),
        "  </ModelVariables>",
        "  <ModelStructure>", *(f"    {row}" for row in structure), "  </ModelStructure>",
        "</fmiModelDescription>", "",
    ])  # fmt: skip


def _build(name: str, sources: dict[str, str]) -> str:
    """buildDescription.xml: what an importer compiles where there is no binary for it."""
    files = "".join(_tag("SourceFile", name=one) for one in sources if one.endswith(".c"))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<fmiBuildDescription fmiVersion="3.0">'
        f'<BuildConfiguration modelIdentifier="{name}"><SourceFileSet language="C99">{files}'
        "</SourceFileSet></BuildConfiguration></fmiBuildDescription>\n"
    )


def _tag(tag: str, **attributes: object) -> str:
    texts = (f"{key}={quoteattr(str(value))}" for key, value in attributes.items())
    return f"<{' '.join((tag, *texts))}/>"


def _binary(sources: dict[str, str], name: str) -> tuple[str, bytes | None]:
    """Place among the binaries, and the compiled unit; None where there is no C compiler."""
    systems = {"Linux": ("linux", "so"), "Darwin": ("darwin", "dylib")}
    known, compiler = systems.get(platform.system()), toolchain()
    if known is None or compiler is None:
        return "", None
    system, end = known
    machine = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine(), platform.machine())
    with tempfile.TemporaryDirectory() as folder:
        for one, text in sources.items():
            Path(folder, one).write_text(text, encoding="utf-8")
        target = Path(folder, f"{name}.{end}")
        files = [str(Path(folder, one)) for one in sources if one.endswith(".c")]
        try:
            Toolchain(compiler.command, FLAGS).link(files, target)
        except CompilationError as error:
            raise InputError(f"{name}: the unit was not compiled: {error}") from error
        return f"{machine}-{system}/{name}.{end}", target.read_bytes()
