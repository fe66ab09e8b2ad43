"""Random CUDA programs of class and function templates: members, operators, conversions, inheritance, expressions in
all the places where nothing is evaluated when a kernel runs.

Every object and array has 8 elements, and every index is masked, so any program runs. What g++ -O0 is no oracle for is
left out: values of assignments and increments that are used, objects passed by value straight from memory, increments
and updates through a pointer in memory, which it loads twice, and operands whose loads it saves by arithmetic.
"""

from dataclasses import dataclass, field
from random import Random

METHODS = {
    "[]": "D T& operator[](const int i) {{ return this->d[i]; }}",
    "()": "D T operator()(int i) const {{ return this->d[i] + this->d[0]; }}",
    "*": "D T& operator*() {{ return this->d[1]; }}",
    "->": "D {self}* operator->() {{ return this; }}",
    "int": "D operator int() const {{ return this->n; }}",
    "+": "D int operator+(int by) const {{ return this->d[2] + by; }}",
    "-": "D int operator-(const {self}& other) const {{ return this->n - other.d[3]; }}",
    "==": "D bool operator==(const {self}& other) const {{ return this->d[0] == other.d[1]; }}",
    "!": "D bool operator!() const {{ return !this->n; }}",
    "+=": "D {self}& operator+=(int by) {{ this->d[4] += by; return *this; }}",
    "=": "D {self}& operator=(int to) {{ this->d[5] = to; return *this; }}",
    "++": "D {self}& operator++() {{ this->n++; return *this; }}",
}
OWN = {"->", "++", "+=", "=", "copy"}  # what a class does not inherit: they return or take the base
N_CLASSES, N_KERNELS = 4, 6

HEAD = """\
#include <type_traits>
#define D __device__
template <class T>
struct Has { static const bool value = true; static constexpr int size() { return 8; } enum { n = 2 }; };
template <int N>
struct Sized { int room[N]; typedef int type; template <int M> D int times(int a) const { return a * M; } };
template <class U> D int by_value(U u) { return int(u) + 1; }
D int of_integer(int n) { return n + 3; }
template <class U> D int by_reference(const U& u) { return u + 2; }
template <class U> D void change(U& u, int by) { u += by; }
template <class F> D int apply(F f, int j) { return f(j) + 1; }
template <class F> D int with_first(F f, int* x) { return f(x[0]); }
"""

# Around the body of a function template whose object is of type A: nothing of it is evaluated in a kernel.
GETS = "(A& a, int* x, int i)"
HEADS = (
    f"template <class A> D void {{name}}{GETS}",
    f"template <class A> D typename std::enable_if<Has<A>::value == true && true, void>::type {{name}}{GETS}",
    f"template <class A, int M = Has<A>::n * 2 + (Has<A>::value ? 1 : 0)> D void {{name}}{GETS}",
    f"template <class A, class = std::enable_if_t<!(sizeof(A) < 1) || Has<A>::value>> D void {{name}}{GETS}",
    f"template <class A> D auto {{name}}{GETS} -> std::enable_if_t<(Has<A>::n + 1 > 2)>",
    f"template <class A> D auto {{name}}{GETS} -> decltype(void(x[0] + Has<A>::n))",
    f"template <class A> D void {{name}}{GETS} noexcept(Has<A>::value && noexcept(x[0] + 1))",
)
CONSTANT = (
    'static_assert(Has<A>::value && Has<A>::n + 1 == 3, "");',
    "constexpr int k{u} = Has<A>::size() + Has<A>::n * 2; v += k{u};",
    "int room{u}[Has<A>::n + (1 << Has<A>::n)]; room{u}[0] = v; v += room{u}[0];",
    "Sized<Has<A>::n * 2 + 1> sized{u}; sized{u}.room[0] = v; v += sized{u}.room[0];",
    "v += int(sizeof(x[v & 7])) + int(alignof(A));",
    "v += Sized<(Has<A>::n > 1) + 3>().template times<Has<A>::n + 1>(v);",
    "switch (v & 3) {{ case Has<A>::n - 1: v += 1; break; case Has<A>::n + (0 && true): v += 2; default: break; }}",
    "if constexpr (Has<A>::value && sizeof(A) + 1 > 0) v += 1;",
    "alignas(Has<A>::n * 8) int aligned{u} = v; v += aligned{u};",
    "enum {{ e{u} = Has<A>::n + 2 }}; v += e{u};",
    "using U{u} = typename Sized<Has<A>::n * 3>::type; v += U{u}(v & 7);",
    "decltype(x[0] + v) t{u} = v; v += t{u};",
    "v += noexcept(x[v & 7] + 1) ? 1 : 2;",
    "v += static_cast<typename Sized<Has<A>::n + 2>::type>(v & 1);",
    "const int c{u} = Has<A>::size() + 1; Sized<c{u}> of{u}; of{u}.room[0] = 1; v += of{u}.room[0];",
)


@dataclass
class Class:
    """A class template: its operators, its base and the class of its member ``in``, if it has them."""

    name: str
    operators: set[str]
    base: "Class | None"
    inner: "Class | None"
    inner_type: str = ""  # how the member's type is written

    def has(self, operator):
        return operator in self.operators

    @property
    def plain(self):
        """Whether all of it is copied by one function, its own or the compiler's."""
        parts = [one for one in (self.base, self.inner) if one]
        return self.has("copy") or all(one.plain and not one.has("copy") for one in parts)


@dataclass
class Scope:
    """What statements may name: objects by their expressions, integers in memory."""

    objects: dict[str, Class]
    lvalues: list[str]
    generic: list[str] = field(default_factory=list)  # what has a subscript, whatever it is
    open_type: str = "int"  # what Has<> is asked for


class Writer:
    def __init__(self, seed):
        self.random, self.count, self.classes = Random(seed), 0, []

    def choose(self, options):
        return self.random.choice(list(options))

    def maybe(self, of=2):
        return self.random.randrange(of) == 0

    def new(self):
        self.count += 1
        return self.count

    # -- expressions

    def paths(self, scope):
        """Objects, and those inside them."""
        found = []
        for path, of in scope.objects.items():
            found.append((path, of))
            if of.inner:
                found.append((f"{path}.in", of.inner))
                if of.inner.inner:
                    found.append((f"{path}.in.in", of.inner.inner))
            if of.has("->") and of.inner:
                found.append((f"{path}->in", of.inner))
        return found

    def index(self, scope, depth):
        return self.choose(["i & 7", "(i + 3) & 7", "v & 7", f"({self.integer(scope, depth + 2)}) & 7", "2"])

    def lvalue(self, scope, depth=0):
        """An integer in memory."""
        at = self.index(scope, depth + 1)
        options = [f"{one}[{at}]" for one in scope.generic] + list(scope.lvalues)
        options = [one.replace("@", at) for one in options]
        for path, of in self.paths(scope):
            options += [f"{path}.d[{at}]", f"{path}.n"]
            if of.has("[]"):
                options += [f"{path}[{at}]", f"{path}[{at}]"]
            if of.has("*"):
                options.append(f"*{path}")
            if of.has("->"):
                options += [f"{path}->n", f"{path}->d[{at}]"]
        return self.choose(options)

    def integer(self, scope, depth=0):
        if depth > 2:
            return self.choose(["w", "i", "v"])
        one = lambda: self.integer(scope, depth + 1)  # noqa: E731
        two = lambda: self.two(scope, depth)  # noqa: E731
        options = [
            "w",
            "v",
            "i",
            "lvalue",
            "lvalue",
            "lvalue",
            "sum",
            "less",
            "choice",
            "minus",
            "both",
            "call",
            "object",
        ]
        match self.choose(options):
            case "lvalue":
                return self.lvalue(scope, depth)
            case "sum":
                return self.choose("+-*^&").join(two())
            case "less":
                return "<".join(two())
            case "choice":
                return f"({one()} ? v : w)" if self.maybe() else f"(w < v ? {one()} : {self.choose('wvi')})"
            case "minus":
                return f"{self.choose('-!~')}({one()})"
            case "both":
                return self.choose(["&&", "||"]).join(two())
            case "call":
                return f"{self.choose(['by_value', 'by_reference'])}({one()})"
            case "object":
                return self.of_object(scope, depth)
            case plain:
                return plain

    def two(self, scope, depth):
        """Two operands, one of which is not in memory: what both name g++ works out, and loads once or not at all."""
        operands = [self.integer(scope, depth + 1), self.choose("wvi")]
        self.random.shuffle(operands)
        return f"({operands[0]} ", f" {operands[1]})"

    def of_object(self, scope, depth):
        """An integer that an object gives by a method or an operator."""
        paths = self.paths(scope)
        if not paths:
            return "i"
        path, of = self.choose(paths)
        options = [f"{path}.get({self.index(scope, depth)})"]
        if of.has("()"):
            options.append(f"{path}({self.index(scope, depth)})")
        if of.has("int"):
            options += [f"int({path})", f"of_integer({path})"]
        if of.has("+"):
            options.append(f"({path} + {self.integer(scope, depth + 1)})")
        if of.has("-"):
            options.append(f"({path} - {path})")
        if of.has("=="):
            options.append(f"({path} == {path})")
        if of.has("!"):
            options.append(f"!{path}")
        return self.choose(options)

    # -- statements

    def statements(self, scope, depth=0):
        return " ".join(self.statement(scope, depth) for _ in range(self.random.randint(1, 4)))

    def statement(self, scope, depth):
        kinds = [
            "local",
            "store",
            "constant",
            "reference",
            "pointer",
            "change",
            "lambda",
            "object",
            "object",
        ]
        kinds += [] if scope.generic else ["update", "step"]
        kinds += ["if", "for"] if depth < 2 else []
        match self.choose(kinds):
            case "local":
                return f"v += {self.integer(scope)};"
            case "store":
                return f"{self.lvalue(scope)} = {self.integer(scope)};"
            case "update":
                return f"{self.lvalue(scope)} {self.choose(['+=', '^=', '-='])} by_value({self.integer(scope)});"
            case "step":
                return self.choose(["++{};", "{}--;"]).format(f"({self.lvalue(scope)})")
            case "constant":
                text = self.choose(CONSTANT).format(u=self.new())
                return (
                    text.replace("<A>", f"<{scope.open_type}>")
                    .replace("alignof(A)", "4")
                    .replace("sizeof(A)", f"sizeof({scope.open_type})")
                )
            case "reference":
                name = f"r{self.new()}"
                return f"{{ auto& {name} = {self.lvalue(scope)}; {name} += v; v += {name}; }}"
            case "pointer":
                return self.pointer(scope)
            case "change":
                return f"change({self.lvalue(scope)}, {self.integer(scope)});"
            case "lambda":
                name = f"l{self.new()}"
                inside = self.integer(scope)
                return f"auto {name} = [&](int j) {{ return ({inside}) + j; }}; v += apply({name}, i) + {name}(1);"
            case "object":
                return self.on_object(scope)
            case "if":
                other = f" else {{ {self.statements(scope, depth + 1)} }}" if self.maybe() else ""
                return f"if ({self.integer(scope)}) {{ {self.statements(scope, depth + 1)} }}{other}"
            case "for":
                j = f"j{self.new()}"
                return f"for (int {j} = 0; {j} < (i & 3) + 1; ++{j}) {{ {self.statements(scope, depth + 1)} }}"

    def pointer(self, scope):
        name = f"p{self.new()}"
        path = self.choose([path for path, _ in self.paths(scope)] or ["x"])
        start = path if path == "x" else f"{path}.d"
        return f"{{ int* {name} = {start}; v += {name}[i & 7] + *({name} + 1); }}"

    def on_object(self, scope):
        paths = self.paths(scope)
        if not paths:
            return f"v += {self.integer(scope)};"
        path, of = self.choose(paths)
        name = f"o{self.new()}"
        options = [f"{path}.put({self.index(scope, 1)}, {self.integer(scope)});"]
        if of.plain:
            options.append(f"{{ auto {name} = {path}; v += {name}.d[1]; }}")
        options.append(f"{{ auto& {name} = {path}; v += {name}.d[i & 7]; }}")
        if of.has("="):
            options.append(f"{path} = {self.integer(scope)};")
        if of.has("+="):
            options.append(f"{path} += {self.integer(scope)};")
        if of.has("++"):
            options.append(f"++{path};")
        if of.has("int"):
            options += [
                f"int {name} = {path}; v += {name};",
                f"if ({path}) v += 1;",
                f"v += {path};",
                f"x[{path} & 7] = 1;",
            ]
        if of.plain:
            options.append(f"{path} = {self.choose([other for other, its in paths if its is of])};")
        return self.choose(options)

    # -- classes

    def a_class(self):
        number = len(self.classes)
        operators = {one for one in METHODS if self.maybe()} | ({"copy"} if self.maybe(4) else set())
        base = self.choose(self.classes) if self.classes and self.maybe(3) else None
        inner = self.choose(self.classes) if self.classes and self.maybe() else None
        if base is not None:  # and its operators, but those that would return it
            operators |= base.operators - OWN
        made = Class(f"C{number}", operators, base, inner)
        text = self.written(made)
        self.classes.append(made)
        return text

    def written(self, made):
        scope = Scope({}, ["n", "this->n", "this->d[@]", "d[@]" if made.base is None else "this->d[@]"], open_type="T")
        if made.base is not None:
            scope.lvalues[0] = f"{made.base.name}<T, N>::n"
        members = []
        if made.base is None:
            members += ["T d[N];", "T n;"]
        if made.inner is not None:
            made.inner_type = f"{made.inner.name}<T, N>"
            if self.maybe():
                members.append(f"typedef {made.inner_type} Inner; Inner in;")
            else:
                members.append(f"{made.inner_type} in;")
            scope.objects["in"] = made.inner
            scope.objects["this->in"] = made.inner
        body = lambda: f"int v = 1, w = 3; {self.statements(scope)} return v;"  # noqa: E731
        members.append(f"D T get(int i) {{ int x[8] = {{}}; {body()} }}")
        members.append(
            f"D void put(int i, T y) {{ int x[8] = {{}}; int v = y, w = 3; {self.statements(scope)} "
            f"{self.lvalue(scope)} = v; }}"
        )
        own = made.operators - (made.base.operators - OWN if made.base else set())
        for operator in sorted(own - {"copy"}):
            members.append(METHODS[operator].format(self=made.name))
        if "copy" in own:
            members.append(f"{made.name}() = default; D {made.name}(const {made.name}& o) {{ this->d[1] = o.d[2]; }}")
            members.append(f"D {made.name}& operator=(const {made.name}& o) {{ this->n = o.n; return *this; }}")
        if "=" in own and "copy" not in own:
            members.append(f"{made.name}() = default; {made.name}(const {made.name}&) = default; ")
            members.append(f"{made.name}& operator=(const {made.name}&) = default;")
        inherits = f" : {made.base.name}<T, N>" if made.base else ""
        return f"template <class T, int N> struct {made.name}{inherits} {{\n  " + "\n  ".join(members) + "\n};\n"

    # -- programs

    def a_function(self, of):
        """A function template that gets an object of a class, or where that is None whatever has a subscript."""
        name = f"f{self.new()}"
        head = self.choose(HEADS).format(name=name)
        scope = Scope({"a": of} if of else {}, ["x[@]"], [] if of else ["a"], open_type="A")
        return name, f"{head} {{ int v = 1, w = 3; {self.statements(scope)} {self.statements(scope)} x[i] += v; }}\n"

    def a_kernel(self, number):
        of = self.choose([None, *self.classes])
        name, function = self.a_function(of)
        if of is not None:
            types = [(f"{of.name}<int, 8>", "")] * 2
        else:
            subscripts = [(f"{one.name}<int, 8>", "") for one in self.classes if one.has("[]")]
            types = [self.choose([("int", "[8]"), *subscripts]), self.choose([("int*", ""), *subscripts])]
        (shared, bound), (many, _) = types[0], types[1]
        prepare = "if (i == 0) for (int j = 0; j < int(sizeof s / 4); ++j) ((int*)&s)[j] = j * 7; __syncthreads();"
        body = f"{name}(s, x, i);" + (f" {name}(g[i & 3], x, i);" if not bound or many else "")
        text = f"""\
__global__ void k{number}({many}* g, int* x) {{
    __shared__ {shared} s{bound};
    int i = threadIdx.x;
    {prepare}
    {body}
}}
"""
        fill = "pointers(x)" if many == "int*" else f"({many}*)numbers(4 * sizeof({many}) / 4)"
        # The oracle evaluates a launch's arguments in each thread.
        return function + text, f"    {{ auto g = {fill}; k{number}<<<1, 20>>>(g, x); }}\n"

    def program(self):
        classes = "".join(self.a_class() for _ in range(N_CLASSES))
        kernels = [self.a_kernel(number) for number in range(N_KERNELS)]
        return (
            HEAD
            + classes
            + "".join(text for text, _ in kernels)
            + MAIN.replace("LAUNCHES", "".join(run for _, run in kernels))
        )


MAIN = """
static int* numbers(int n) {
    int* all;
    cudaMalloc(&all, n * sizeof(int));
    for (int j = 0; j < n; ++j) {
        int value = j * 5 % 61;
        cudaMemcpy(all + j, &value, sizeof value, cudaMemcpyHostToDevice);
    }
    return all;
}
static int** pointers(int* x) {
    int** all;
    cudaMalloc(&all, 4 * sizeof(int*));
    for (int j = 0; j < 4; ++j) {
        int* value = x + 8 * j;
        cudaMemcpy(all + j, &value, sizeof value, cudaMemcpyHostToDevice);
    }
    return all;
}
int main() {
    int* x = numbers(64);
LAUNCHES    cudaDeviceSynchronize();
    return 0;
}
"""


def program(seed):
    return Writer(seed).program()
