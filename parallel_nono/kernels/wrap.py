"""What Python calls of the library, as text of LLVM: for each kernel a function that takes Python's objects apart.

Each part of the library is an extension module of Python's stable interface (3.11 and later), so one file serves every
version. A wrapper looks at each argument, lets go of the interpreter while the kernel runs, and makes a Python object
of what it returns. Arrays are NumPy's own: where their fields lie is NumPy's promise to everything compiled against it,
and `probe` tells whoever loads the library whether it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Template
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from .arrays import Array, Call, fact_of

API_VERSION = 3
"""Of the stable interface (PYTHON_ABI_VERSION)."""

FASTCALL = 0x80
"""How methods are called (METH_FASTCALL)."""

CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""Flags of arrays (NPY_ARRAY_...)."""

# Of each dtype: NumPy's numbers of it (two where C has two names for it), and its bytes.
DTYPES = {
    "bool": (0, 0, 1),
    "int8": (1, 1, 1),
    "uint8": (2, 2, 1),
    "int16": (3, 3, 2),
    "uint16": (4, 4, 2),
    "int32": (5, 5, 4),
    "uint32": (6, 6, 4),
    "int64": (7, 9, 8),
    "uint64": (8, 10, 8),
    "float32": (11, 11, 4),
    "float64": (12, 12, 8),
}

# Offsets in NumPy's PyArrayObject and PyArray_Descr, and in a Python object, where the type follows the references.
TYPE, DATA, NDIM, SHAPE, STRIDES, DESCR, FLAGS = 8, 16, 24, 32, 40, 56, 64
BYTE_ORDER, TYPE_NUMBER = 26, 28

HEAD = Template(
    """
@PyExc_TypeError = external global ptr
@PyExc_RuntimeError = external global ptr
@PyTuple_Type = external global i8
@_Py_NoneStruct = external global i8
declare ptr @PyImport_ImportModule(ptr)
declare ptr @PyObject_GetAttrString(ptr, ptr)
declare i32 @PyType_IsSubtype(ptr, ptr)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare i64 @PyLong_AsUnsignedLongLong(ptr)
declare ptr @PyNumber_Index(ptr)
declare double @PyFloat_AsDouble(ptr)
declare i32 @PyObject_IsTrue(ptr)
declare ptr @PyErr_Occurred()
declare ptr @PyErr_Format(ptr, ptr, ...)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyLong_FromUnsignedLongLong(i64)
declare ptr @PyBool_FromLong(i64)
declare ptr @PyFloat_FromDouble(double)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyCapsule_New(ptr, ptr, ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare ptr @PyModule_Create2(ptr, i32)
declare i32 @PyModule_AddObjectRef(ptr, ptr, ptr)

@ndarray = internal global ptr null

define internal i1 @is_array(ptr %object) {
  %at = getelementptr i8, ptr %object, i64 $TYPE
  %type = load ptr, ptr %at
  %wanted = load ptr, ptr @ndarray
  %same = icmp eq ptr %type, %wanted
  br i1 %same, label %yes, label %else
else:
  %is = call i32 @PyType_IsSubtype(ptr %type, ptr %wanted)
  %found = icmp ne i32 %is, 0
  ret i1 %found
yes:
  ret i1 true
}

define internal i1 @take_array(ptr %object, i32 %one, i32 %other, i32 %ndim, i32 %flags, ptr %what, ptr %where) {
  %is = call i1 @is_array(ptr %object)
  br i1 %is, label %array, label %wrong
array:
  %descr.at = getelementptr i8, ptr %object, i64 $DESCR
  %descr = load ptr, ptr %descr.at
  %number.at = getelementptr i8, ptr %descr, i64 $TYPE_NUMBER
  %number = load i32, ptr %number.at
  %order.at = getelementptr i8, ptr %descr, i64 $BYTE_ORDER
  %order = load i8, ptr %order.at
  %ndim.at = getelementptr i8, ptr %object, i64 $NDIM
  %has.ndim = load i32, ptr %ndim.at
  %flags.at = getelementptr i8, ptr %object, i64 $FLAGS
  %has.flags = load i32, ptr %flags.at
  %is.one = icmp eq i32 %number, %one
  %is.other = icmp eq i32 %number, %other
  %fits.type = or i1 %is.one, %is.other
  %fits.order = icmp ne i8 %order, 62
  %fits.ndim = icmp eq i32 %has.ndim, %ndim
  %those = and i32 %has.flags, %flags
  %fits.flags = icmp eq i32 %those, %flags
  %both = and i1 %fits.type, %fits.order
  %three = and i1 %both, %fits.ndim
  %all = and i1 %three, %fits.flags
  br i1 %all, label %fine, label %wrong
fine:
  ret i1 true
wrong:
  %type = load ptr, ptr @PyExc_TypeError
  call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type, ptr @text.array, ptr %where, ptr %what, ptr %object)
  ret i1 false
}

define internal i1 @take_tuple(ptr %object, i64 %length, ptr %where) {
  %at = getelementptr i8, ptr %object, i64 $TYPE
  %type = load ptr, ptr %at
  %is = call i32 @PyType_IsSubtype(ptr %type, ptr @PyTuple_Type)
  %tuple = icmp ne i32 %is, 0
  br i1 %tuple, label %size, label %wrong
size:
  %has = call i64 @PyTuple_Size(ptr %object)
  %fits = icmp eq i64 %has, %length
  br i1 %fits, label %fine, label %wrong
fine:
  ret i1 true
wrong:
  %error = load ptr, ptr @PyExc_TypeError
  call ptr (ptr, ptr, ...) @PyErr_Format(ptr %error, ptr @text.tuple, ptr %where, i64 %length, ptr %object)
  ret i1 false
}

define internal i1 @take_word(ptr %object, ptr %place) {
  %index = call ptr @PyNumber_Index(ptr %object)
  %some = icmp ne ptr %index, null
  br i1 %some, label %convert, label %wrong
convert:
  %value = call i64 @PyLong_AsUnsignedLongLong(ptr %index)
  call void @Py_DecRef(ptr %index)
  store i64 %value, ptr %place
  %odd = icmp eq i64 %value, -1
  br i1 %odd, label %ask, label %fine
ask:
  %error = call ptr @PyErr_Occurred()
  %none = icmp eq ptr %error, null
  ret i1 %none
fine:
  ret i1 true
wrong:
  ret i1 false
}

define internal i1 @take_address(ptr %object, ptr %name, ptr %place) {
  %address = call ptr @PyCapsule_GetPointer(ptr %object, ptr %name)
  store ptr %address, ptr %place
  %some = icmp ne ptr %address, null
  ret i1 %some
}

define internal ptr @wrong_count(ptr %name, i64 %wanted, i64 %found) {
  %type = load ptr, ptr @PyExc_TypeError
  call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type, ptr @text.count, ptr %name, i64 %wanted, i64 %found)
  ret ptr null
}

define internal ptr @failed(ptr %name, i32 %status) {
  %type = load ptr, ptr @PyExc_RuntimeError
  call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type, ptr @text.failed, ptr %name, i32 %status)
  ret ptr null
}

define internal ptr @wrap.probe(ptr %self, ptr %arguments, i64 %count) {
  %array = load ptr, ptr %arguments
  %is = call i1 @is_array(ptr %array)
  br i1 %is, label %fine, label %wrong
fine:
  %data.at = getelementptr i8, ptr %array, i64 $DATA
  %data = load i64, ptr %data.at
  %ndim.at = getelementptr i8, ptr %array, i64 $NDIM
  %ndim = load i32, ptr %ndim.at
  %shape.at = getelementptr i8, ptr %array, i64 $SHAPE
  %shape = load ptr, ptr %shape.at
  %length = load i64, ptr %shape
  %strides.at = getelementptr i8, ptr %array, i64 $STRIDES
  %strides = load ptr, ptr %strides.at
  %stride = load i64, ptr %strides
  %descr.at = getelementptr i8, ptr %array, i64 $DESCR
  %descr = load ptr, ptr %descr.at
  %order.at = getelementptr i8, ptr %descr, i64 $BYTE_ORDER
  %order = load i8, ptr %order.at
  %number.at = getelementptr i8, ptr %descr, i64 $TYPE_NUMBER
  %number = load i32, ptr %number.at
  %flags.at = getelementptr i8, ptr %array, i64 $FLAGS
  %flags = load i32, ptr %flags.at
  %long.ndim = sext i32 %ndim to i64
  %long.order = sext i8 %order to i64
  %long.number = sext i32 %number to i64
  %long.flags = sext i32 %flags to i64
  %tuple = call ptr @PyTuple_New(i64 7)
"""
).substitute(
    TYPE=TYPE,
    DATA=DATA,
    NDIM=NDIM,
    SHAPE=SHAPE,
    STRIDES=STRIDES,
    DESCR=DESCR,
    FLAGS=FLAGS,
    BYTE_ORDER=BYTE_ORDER,
    TYPE_NUMBER=TYPE_NUMBER,
)

PROBED = ("%data", "%long.ndim", "%length", "%stride", "%long.order", "%long.number", "%long.flags")

TAIL = """
  ret ptr %tuple
wrong:
  ret ptr null
}
"""

ENDING = """
define internal ptr @wrap.ending(ptr %self, ptr %arguments, i64 %count) {
  %function = ptrtoint ptr @ending to i64
  %state = ptrtoint ptr @ending.state to i64
  %tuple = call ptr @PyTuple_New(i64 2)
  %first = call ptr @PyLong_FromLongLong(i64 %function)
  %second = call ptr @PyLong_FromLongLong(i64 %state)
  %set.first = call i32 @PyTuple_SetItem(ptr %tuple, i64 0, ptr %first)
  %set.second = call i32 @PyTuple_SetItem(ptr %tuple, i64 1, ptr %second)
  ret ptr %tuple
}
"""
"""Where the function of ending.CODE lies, and its state."""

TEXTS = {
    "array": "%s: expected a contiguous array, %s, found %.200R",
    "tuple": "%s: expected a tuple of %zd, found %.200R",
    "count": "%s: expected %zd arguments, found %zd",
    "failed": "%s failed with status %d",
}


EXTERNAL = re.compile(r"^(?:@[\w.]+ = external global|declare [^@]*@[\w.]+\()", re.MULTILINE)
"""What a module says of things that are elsewhere: it may say so once."""


class Export(NamedTuple):
    """A kernel of the library.

    key         its name for Python.
    symbol      its name for LLVM.
    parameters  annotations by name.
    returns     Numba's type of what it returns;  returned  how LLVM writes that down.
    call        None, or what a function value returns and takes: then it is no function but an address.
    """

    key: str
    symbol: str
    parameters: dict[str, Any]
    returns: Any
    returned: str
    call: Call | None = None


class _Lines:
    """Lines of LLVM, with names for values, blocks and texts."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.texts: dict[str, str] = {}
        self.n = 0

    def name(self, what: str) -> str:
        self.n += 1
        return f"{what}.{self.n}"

    def value(self, what: str, code: str) -> str:
        """A line that gives a value; its name."""
        name = f"%{self.name(what)}"
        self.lines.append(f"  {name} = {code}")
        return name

    def line(self, code: str) -> None:
        self.lines.append(f"  {code}")

    def go_on_if(self, fine: str) -> None:
        """To the block `fail` unless it is so."""
        after = self.name("on")
        self.line(f"br i1 {fine}, label %{after}, label %fail")
        self.lines.append(f"{after}:")

    def text(self, words: str) -> str:
        """A global constant."""
        if words not in self.texts:
            self.texts[words] = f'@"text.{len(self.texts)}"'
        return self.texts[words]


def constant(name: str, words: str) -> str:
    """A global of text that ends in 0."""
    data = words.encode() + b"\0"
    escaped = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02x}" for byte in data)
    return f'{name} = internal constant [{len(data)} x i8] c"{escaped}"'


def name_of(call: Call) -> str:
    """What the capsule of a function value is called: another one is refused."""
    facts = map(fact_of, call.takes)
    return f"({', '.join(name_of(fact) if isinstance(fact, Call) else str(fact) for fact in facts)})"


def _taken(out: _Lines, annotation: Any, value: str, where: str) -> Iterator[tuple[str, str]]:
    """(type, value) of each argument that the kernel is given for one of Python's."""
    fact = fact_of(annotation)
    if isinstance(fact, Call):
        place = out.value("place", "alloca ptr")
        out.go_on_if(
            out.value("fine", f"call i1 @take_address(ptr {value}, ptr {out.text(name_of(fact))}, ptr {place})")
        )
        yield "ptr", out.value("address", f"load ptr, ptr {place}")
    elif annotation is bool:
        truth = out.value("truth", f"call i32 @PyObject_IsTrue(ptr {value})")
        out.go_on_if(out.value("fine", f"icmp sge i32 {truth}, 0"))
        yield "i8", out.value("bool", f"trunc i32 {truth} to i8")
    elif annotation is np.uint64:
        place = out.value("place", "alloca i64")
        out.go_on_if(out.value("fine", f"call i1 @take_word(ptr {value}, ptr {place})"))
        yield "i64", out.value("word", f"load i64, ptr {place}")
    elif annotation in (int, float):
        kind, call = ("i64", "PyLong_AsLongLong") if annotation is int else ("double", "PyFloat_AsDouble")
        number = out.value("number", f"call {kind} @{call}(ptr {value})")
        error = out.value("error", "call ptr @PyErr_Occurred()")
        out.go_on_if(out.value("fine", f"icmp eq ptr {error}, null"))
        yield kind, number
    elif isinstance(fact, Array):
        yield from _array(out, fact, value, where)
    else:
        fields = get_type_hints(annotation, include_extras=True)
        where_text = out.text(where)
        out.go_on_if(out.value("fine", f"call i1 @take_tuple(ptr {value}, i64 {len(fields)}, ptr {where_text})"))
        for place, (name, field) in enumerate(fields.items()):
            item = out.value("item", f"call ptr @PyTuple_GetItem(ptr {value}, i64 {place})")
            yield from _taken(out, field, item, f"{where}.{name}")


def _array(out: _Lines, array: Array, value: str, where: str) -> Iterator[tuple[str, str]]:
    one, other, size = DTYPES[array.dtype]
    flags = CONTIGUOUS | ALIGNED | (0 if array.is_const else WRITEABLE)
    what = f"{array.ndim}-d, {array.dtype}{'' if array.is_const else ', writeable'}"
    out.go_on_if(
        out.value(
            "fine",
            f"call i1 @take_array(ptr {value}, i32 {one}, i32 {other}, i32 {array.ndim}, i32 {flags}, "
            f"ptr {out.text(what)}, ptr {out.text(where)})",
        )
    )
    data = out.value("data", f"load ptr, ptr {out.value('at', f'getelementptr i8, ptr {value}, i64 {DATA}')}")
    shape = out.value("shape", f"load ptr, ptr {out.value('at', f'getelementptr i8, ptr {value}, i64 {SHAPE}')}")
    lengths = [
        out.value("length", f"load i64, ptr {out.value('at', f'getelementptr i64, ptr {shape}, i64 {axis}')}")
        for axis in range(array.ndim)
    ]
    strides, items = [str(size)], lengths[-1]
    for length in reversed(lengths[1:]):
        strides.insert(0, out.value("stride", f"mul i64 {strides[0]}, {length}"))
    for length in reversed(lengths[:-1]):
        items = out.value("items", f"mul i64 {items}, {length}")
    yield from (("ptr", "null"), ("ptr", "null"), ("i64", items), ("i64", str(size)), ("ptr", data))
    yield from (("i64", length) for length in lengths)
    yield from (("i64", stride) for stride in strides)


def _given(out: _Lines, returns: Any, kind: str, place: str) -> str:
    """A Python object of what lies at a place; may be null, then Python knows why."""
    from numba import types

    if returns == types.none:
        out.line("call void @Py_IncRef(ptr @_Py_NoneStruct)")
        return "@_Py_NoneStruct"
    if isinstance(returns, types.BaseTuple):
        made = out.value("tuple", f"call ptr @PyTuple_New(i64 {len(returns)})")
        out.go_on_if(out.value("fine", f"icmp ne ptr {made}, null"))
        # LLVM has a structure, or an array where all items are of one type.
        fields = (
            kind.strip("{}").split(",") if kind.startswith("{") else [kind.strip("[]").split(" x ")[1]] * len(returns)
        )
        for i, (item, field) in enumerate(zip(returns, fields, strict=True)):
            at = out.value("at", f"getelementptr {kind}, ptr {place}, i32 0, i32 {i}")
            value = _given(out, item, field.strip(), at)
            out.line(f"call i32 @PyTuple_SetItem(ptr {made}, i64 {i}, ptr {value})")
        return made
    value = out.value("value", f"load {kind}, ptr {place}")
    if isinstance(returns, types.Boolean):
        return out.value("object", f"call ptr @PyBool_FromLong(i64 {out.value('long', f'zext {kind} {value} to i64')})")
    if isinstance(returns, types.Float) and kind == "double":
        return out.value("object", f"call ptr @PyFloat_FromDouble(double {value})")
    if isinstance(returns, types.Integer) and kind == "i64":
        made = "PyLong_FromUnsignedLongLong" if returns == types.uint64 else "PyLong_FromLongLong"
        return out.value("object", f"call ptr @{made}(i64 {value})")
    raise TypeError(f"expected a kernel that returns numbers, found {returns}")


def _wrapper(out: _Lines, export: Export, declared: list[str]) -> None:
    """The function that Python calls. declared: the types of the kernel's arguments, to be sure."""
    key = out.text(export.key)
    n = len(export.parameters)
    out.lines.append(f'define internal ptr @"wrap.{export.key}"(ptr %self, ptr %arguments, i64 %count) {{')
    result, error = out.value("result", f"alloca {export.returned}"), out.value("error", "alloca ptr")
    right = out.value("right", f"icmp eq i64 %count, {n}")
    out.line(f"br i1 {right}, label %begin, label %wrong")
    out.lines.append("begin:")
    given: list[tuple[str, str]] = [("ptr", result), ("ptr", error)]
    for place, (name, annotation) in enumerate(export.parameters.items()):
        at = out.value("at", f"getelementptr ptr, ptr %arguments, i64 {place}")
        value = out.value("argument", f"load ptr, ptr {at}")
        given += _taken(out, annotation, value, f"{export.key}: {name}")
    if [kind for kind, _ in given] != declared:
        raise TypeError(f"{export.key}: expected arguments {declared}, found {[kind for kind, _ in given]}")
    thread = out.value("thread", "call ptr @PyEval_SaveThread()")
    arguments = ", ".join(f"{kind} {value}" for kind, value in given)
    status = out.value("status", f'call i32 @"{export.symbol}"({arguments})')
    out.line(f"call void @PyEval_RestoreThread(ptr {thread})")
    ended = out.value("ended", f"icmp eq i32 {status}, 0")
    out.line(f"br i1 {ended}, label %give, label %broken")
    out.lines.append("give:")
    out.line(f"ret ptr {_given(out, export.returns, export.returned, result)}")
    out.lines.append("broken:")
    out.line(f"ret ptr {out.value('none', f'call ptr @failed(ptr {key}, i32 {status})')}")
    out.lines.append("wrong:")
    out.line(f"ret ptr {out.value('none', f'call ptr @wrong_count(ptr {key}, i64 {n}, i64 %count)')}")
    out.lines += ["fail:", "  ret ptr null", "}", ""]


def module_text(part: str, exports: list[Export], declared: dict[str, list[str]], kernels: str) -> str:
    """The extension module of a part, to be appended to the code of its kernels.

    declared  the types of the arguments of each symbol.
    """
    out = _Lines()
    known = set(EXTERNAL.findall(kernels))
    out.lines += [line for line in HEAD.split("\n") if not (found := EXTERNAL.match(line)) or found[0] not in known]
    for place, value in enumerate(PROBED):
        made = out.value("object", f"call ptr @PyLong_FromLongLong(i64 {value})")
        out.line(f"call i32 @PyTuple_SetItem(ptr %tuple, i64 {place}, ptr {made})")
    out.lines.append(TAIL)
    functions = [export for export in exports if export.call is None]
    for export in functions:
        _wrapper(out, export, declared[export.symbol])
    methods = [(out.text("probe"), '@"wrap.probe"')]
    if part == "ending":
        out.lines.append(ENDING)
        methods.append((out.text("ending"), "@wrap.ending"))
    methods += [(out.text(export.key), f'@"wrap.{export.key}"') for export in functions]
    rows = [f"{{ ptr, ptr, i32, ptr }} {{ ptr {name}, ptr {of}, i32 {FASTCALL}, ptr null }}" for name, of in methods]
    rows.append("{ ptr, ptr, i32, ptr } zeroinitializer")
    table = f"[{len(rows)} x {{ ptr, ptr, i32, ptr }}]"
    out.lines.append(f"@methods = internal global {table} [{', '.join(rows)}]")
    # PyModuleDef: a Python object (references, type), init, index, copy; name, text, size, methods; slots and so on.
    head = "{ i64, ptr, ptr, i64, ptr, ptr, ptr, i64, ptr, ptr, ptr, ptr, ptr }"
    name = out.text(f"pnono_{part}")
    out.lines.append(
        f"@definition = internal global {head} {{ i64 1, ptr null, ptr null, i64 0, ptr null, ptr {name}, ptr null, "
        "i64 -1, ptr @methods, ptr null, ptr null, ptr null, ptr null }"
    )
    out.lines.append(f"define ptr @PyInit_pnono_{part}() {{")
    numpy = out.value("numpy", f"call ptr @PyImport_ImportModule(ptr {out.text('numpy')})")
    out.go_on_if(out.value("fine", f"icmp ne ptr {numpy}, null"))
    ndarray = out.value("ndarray", f"call ptr @PyObject_GetAttrString(ptr {numpy}, ptr {out.text('ndarray')})")
    out.go_on_if(out.value("fine", f"icmp ne ptr {ndarray}, null"))
    out.line(f"store ptr {ndarray}, ptr @ndarray")
    module = out.value("module", f"call ptr @PyModule_Create2(ptr @definition, i32 {API_VERSION})")
    out.go_on_if(out.value("fine", f"icmp ne ptr {module}, null"))
    for export in exports:
        if export.call is None:
            continue
        capsule = out.value(
            "capsule",
            f'call ptr @PyCapsule_New(ptr @"{export.symbol}", ptr {out.text(name_of(export.call))}, ptr null)',
        )
        out.go_on_if(out.value("fine", f"icmp ne ptr {capsule}, null"))
        added = out.value(
            "added", f"call i32 @PyModule_AddObjectRef(ptr {module}, ptr {out.text(export.key)}, ptr {capsule})"
        )
        out.go_on_if(out.value("fine", f"icmp eq i32 {added}, 0"))
    out.line(f"ret ptr {module}")
    out.lines += ["fail:", "  ret ptr null", "}", ""]
    out.lines += [constant(f"@text.{name}", words) for name, words in TEXTS.items()]
    out.lines += [constant(name, words) for words, name in out.texts.items()]
    return "\n".join(out.lines)
