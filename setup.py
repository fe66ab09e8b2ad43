"""Packages are found, not listed: setup.cfg cannot say both that and where the two data packages lie."""

from setuptools import find_packages, setup

setup(packages=[*find_packages(include=["memsim", "memsim.*"]), "memsim.traces", "memsim.configs"])
