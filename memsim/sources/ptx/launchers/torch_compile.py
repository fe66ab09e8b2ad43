"""torch.compile without a GPU: inductor is told that tensors lie on one, and writes and launches Triton kernels.

Dynamo would look at the real tensors, which lie in the host's memory. So a call is traced with fake ones (which have a
device, and no data), once for each set of types, shapes and other values, and inductor gets the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any
from unittest.mock import patch

from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.needed import needed
from memsim.sources.ptx.launchers.torch_compile_key import described, state_of
from memsim.sources.ptx.launchers.torch_cuda import is_on_gpu
from memsim.support.errors import InputError

_MODE_LEFT_OUT = "torch.compile's mode is left out: kernels are those of its default mode"
_RANDOM = "draws random numbers, which is not taken; give them as an argument, or call eval() for a module's dropout"
# What torch says where data is asked for that is not there, or tensors meet that are not of the call.
_WITHOUT_DATA = ("FakeTensor", "unallocated storage", "INTERNAL ASSERT", "CUDA error", "with support for cuda")


@contextmanager
def compile_caught(capturing: Capturing) -> Iterator[None]:
    """Inside the block, what ``torch.compile`` makes of functions and modules launches kernels here."""
    import torch

    with patch.object(torch, "compile", partial(_compile, capturing)):
        yield


def _compile(capturing: Capturing, function: Any = None, **how: Any) -> Any:
    """What stands in for ``torch.compile``.

    Raises:
        InputError: another back end than inductor is asked for, or Triton is not installed.
    """
    if function is None:
        return partial(_compile, capturing, **how)
    needed("triton", "triton")
    if how.get("backend", "inductor") != "inductor":
        raise InputError(
            "torch.compile", "backend", f"is {how['backend']!r}; kernels come of 'inductor' alone, give that"
        )
    if how.get("mode") not in (None, "default"):
        capturing.note(_MODE_LEFT_OUT)
    return _of_module(function, how) if hasattr(function, "named_parameters") else _of_function(function, how)


def _of_function(
    function: Any,
    how: Mapping[str, Any],
    own: Callable[[], dict[str, Any]] = dict,
    state: Callable[[], Hashable] = tuple,
) -> Callable[..., Any]:
    """A function that compiles at a call with tensors of new shapes or other values.

    Args:
        own: gives the tensors that it has besides arguments.
        state: gives what else it has that kernels depend on.
    """
    name = _name(function)
    known: dict[Any, Callable[[list[Any]], Any]] = {}

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        from torch.utils import _pytree

        values, tree = _pytree.tree_flatten((own(), arguments, named))
        if not any(map(is_on_gpu, values)):
            return function(*arguments, **named)
        key = tree, tuple(described(value, f"{name}'s argument") for value in values), state()
        if key not in known:
            known[key] = _Traced(function, tree, values).compiled(how.get("options") or {})
        return known[key](values)

    return call


def _of_module(module: Any, how: Mapping[str, Any]) -> Any:
    """A module that stands for another, whose parameters and buffers are arguments of its compiled call."""
    import torch

    def own() -> dict[str, Any]:
        return dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers())

    class Compiled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self._orig_mod = module
            self._call = _of_function(module, how, own, partial(state_of, module, _name(module)))

        def forward(self, *arguments: Any, **named: Any) -> Any:
            return self._call(*arguments, **named)

        def __getattr__(self, name: str) -> Any:
            return super().__getattr__(name) if name == "_orig_mod" else getattr(self._orig_mod, name)

    return Compiled()


class _Traced:
    """A call of a function, whose tensors are changed for others.

    Args:
        tree: how tensors and other values make up (own tensors, arguments, named arguments).
        values: they.
    """

    def __init__(self, function: Any, tree: Any, values: list[Any]) -> None:
        import torch

        self._function, self._tree, self._values = function, tree, values
        self._at = [k for k, one in enumerate(values) if isinstance(one, torch.Tensor)]
        self._result: Any = None  # the tree of what it returns

    def _flat(self, *tensors: Any) -> tuple[Any, ...]:
        """Call the function with these tensors; what it returns, as a list."""
        import torch
        from torch.utils import _pytree

        given = list(self._values)
        for k, one in zip(self._at, tensors, strict=True):
            given[k] = one
        own, arguments, named = _pytree.tree_unflatten(given, self._tree)
        call = partial(torch.func.functional_call, self._function, own) if own else None
        results = call(arguments, named) if call else self._function(*arguments, **named)
        flat, self._result = _pytree.tree_flatten(results)
        return tuple(flat)

    def compiled(self, options: Mapping[str, Any]) -> Callable[[list[Any]], Any]:
        """What launches inductor's kernels for tensors like these.

        Raises:
            InputError: a gradient is asked for, the function draws random numbers, or it cannot be followed without
                data.
        """
        import torch
        from torch._inductor import config
        from torch._inductor.compile_fx import compile_fx_inner
        from torch._inductor.decomposition import select_decomp_table
        from torch.fx.experimental.proxy_tensor import make_fx
        from torch.utils import _pytree

        tensors = [self._values[k] for k in self._at]
        if torch.is_grad_enabled() and any(one.requires_grad for one in tensors):
            raise InputError("torch", "compile", "knows no gradients here; call what it compiled under torch.no_grad()")
        written = {"fx_graph_cache": False, **options}
        mode = torch._subclasses.FakeTensorMode()
        fakes = _fakes(tensors, mode)
        follow = torch.func.functionalize(self._flat, remove="mutations_and_views")
        with torch._C.DisableTorchFunction(), config.patch(written), torch.no_grad():
            try:
                with mode:
                    graph = make_fx(follow, decomposition_table=select_decomp_table())(*fakes)
            except (RuntimeError, AssertionError) as error:
                if not _asks_for_data(error):
                    raise  # the function's own, as of shapes that do not fit
                raise _not_followed(self._function, error) from None
            if any(torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()) for node in graph.graph.nodes):
                raise InputError("torch.compile", _name(self._function), _RANDOM)
            run = compile_fx_inner(graph, fakes)
        return lambda values: _pytree.tree_unflatten(run([values[k] for k in self._at]), self._result)


def _fakes(tensors: list[Any], mode: Any) -> list[Any]:
    """Tensors without data in the places of these, on the GPU where these stand for such."""
    import torch

    places = [("cuda" if is_on_gpu(one) else "cpu", one.shape, one.stride(), one.dtype) for one in tensors]
    with torch._C.DisableTorchFunction(), mode:
        return [torch.empty_strided(size, stride, dtype=dtype, device=on) for on, size, stride, dtype in places]


def _asks_for_data(error: Exception) -> bool:
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

    without = DataDependentOutputException, DynamicOutputShapeException
    return isinstance(error, without) or any(words in str(error) for words in _WITHOUT_DATA)


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _not_followed(function: Any, error: Exception) -> InputError:
    said = (str(error).splitlines() or [type(error).__name__])[0][:120]
    return InputError(
        "torch.compile", _name(function), f"cannot be followed without data ({said}); give what it reads as arguments"
    )
