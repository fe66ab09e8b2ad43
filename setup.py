"""What setup.cfg cannot say: the packages, which are found and not listed, and the CUDA libraries built with g++."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

from setuptools import Command, Distribution, find_packages, setup
from setuptools.command.build import build

CAPTURE = Path("memsim") / "capture"


class BuildLibraries(Command):
    """Build memsim's CUDA libraries into the package; without g++ they are built when they are needed."""

    description = "build memsim's CUDA libraries with g++"
    user_options = [("build-lib=", "d", "folder of the package that is built")]
    editable_mode = False

    def initialize_options(self) -> None:
        self.build_lib = None  # what is None is set below

    def finalize_options(self) -> None:
        self.set_undefined_options("build_py", ("build_lib", "build_lib"))
        self._package = CAPTURE if self.editable_mode else Path(self.build_lib) / CAPTURE

    def run(self) -> None:
        self.finalize_options()  # the editable mode is set between
        recipe = _recipe()
        try:
            recipe.build_installed(self._package.absolute() / "built")
        except recipe.CompilerError as error:
            self.warn(f"CUDA libraries are not built now: g++: {': '.join(error.args)}")

    def get_source_files(self) -> list:
        return [str(path) for path in (CAPTURE / "native").rglob("*") if path.is_file()]

    def get_outputs(self) -> list:
        return []

    def get_output_mapping(self) -> dict:
        return {}


def _recipe() -> ModuleType:
    """The module that builds them, loaded without memsim's other modules, whose packages are not installed yet."""
    spec = importlib.util.spec_from_file_location("library_build", CAPTURE / "library_build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["library_build"] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


class WithLibraries(Distribution):
    """A wheel with machine code is for one platform."""

    def has_ext_modules(self) -> bool:
        return shutil.which("g++") is not None


build.sub_commands.append(("build_libraries", None))
setup(
    packages=[*find_packages(include=["memsim", "memsim.*"]), "memsim.traces", "memsim.configs"],
    cmdclass={"build_libraries": BuildLibraries},
    distclass=WithLibraries,
)
