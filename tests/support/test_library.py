"""Names of the library resolve in a checkout and in an installed package."""

import pytest

from memsim.sources import load_workload
from memsim.support import library
from memsim.support.errors import InputError


def test_every_shipped_workload_loads_with_its_defaults():
    shipped = library.names("traces", ".py")
    assert {"spmv", "saxpy", "transpose", "reduction", "histogram", "pointer_chase", "matmul"} <= set(shipped)
    for name in shipped:
        workload = load_workload(name)
        assert workload.name == name and workload.shown == f"traces/{name}.py"
        assert workload.builder.__doc__ and workload.parameters()


def test_a_path_is_found_as_it_is(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("")
    assert library.find("traces", ".py", path) == path


def test_the_installed_folder_comes_first(tmp_path, monkeypatch):
    package = tmp_path / "site" / "memsim"
    (tmp_path / "site" / "traces").mkdir(parents=True)
    monkeypatch.setattr(library, "_PACKAGE", package)
    assert library.folder("traces") == tmp_path / "site" / "traces"
    (package / "traces").mkdir(parents=True)
    (package / "traces" / "one.py").touch()
    (package / "traces" / "__init__.py").touch()
    assert library.folder("traces") == package / "traces"
    assert library.names("traces", ".py") == ["one"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("spvm", "name is not in the library; did you mean svm or spmv?"),
        ("there/is/none.py", "file does not exist"),
        ("none.py", "file does not exist"),
    ],
)
def test_missing_name_is_reported_with_known_ones(name, message):
    with pytest.raises(InputError, match="pointer_chase") as error:
        library.find("traces", ".py", name)
    assert str(error.value).startswith(f"{name}: {message}")
