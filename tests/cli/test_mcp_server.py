"""The MCP server and the functions behind it."""

from __future__ import annotations

import json
import os
import sys

import pytest
from compilers import needs_capture
from planted_defects import PROGRAM

import memsim
from experiments.judge.candidates import TASKS
from memsim.api import tools
from memsim.support.errors import InputError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.cu").write_text(PROGRAM.read_text())
    (tmp_path / "task.py").write_text(TASKS[0].task)
    (tmp_path / "scale.cu").write_text(TASKS[0].right)
    return tmp_path


def environment():
    """Of a server that imports what this process does; by default it would inherit a few variables alone."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@needs_capture
@pytest.mark.slow
def test_tools_answer_with_json(folder):
    program = str(folder / "kernels.cu")
    profile = tools.profile(program, "a100")
    assert {one["kernel"] for one in profile["kernels"]} == {"scale", "turn", "total", "weigh"}
    assert sum(one["share"] for one in profile["kernels"]) == pytest.approx(1)
    explained = tools.explain(program, "a100", kernel="scale")
    locations = [place["location"] for one in explained["findings"] for place in one["locations"]]
    assert explained["kernel"] == "scale" and any(location.startswith("kernels.cu") for location in locations)
    changed = tools.what_if(program, {"dram.channels": 20}, "a100", kernel="scale")
    assert changed["after_us"] > changed["before_us"] > 0
    json.dumps([profile, explained, changed], allow_nan=False)


def test_folder_without_kernel_is_refused(tmp_path):
    with pytest.raises(InputError, match="is in none of the traces"):
        tools.explain(str(tmp_path), kernel="scale")


def test_refusals_name_arguments_of_tools(tmp_path):
    trace = str(memsim.trace("saxpy", n=1024, gpu="a100", blocks="all", out=tmp_path / "saxpy.h5").path)
    with pytest.raises(InputError, match=r"^settings: l2.sizebytes is unknown; did you mean l2.size_bytes\?"):
        tools.what_if(trace, {"l2.sizebytes": 1 << 20}, "a100")
    with pytest.raises(InputError, match="settings is empty"):
        tools.what_if(trace, {}, "a100")


def test_server_in_a_script_without_guard(tmp_path):
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    import asyncio

    from mcp import ClientSession, StdioServerParameters, stdio_client

    script = tmp_path / "serve.py"
    runs = tmp_path / "runs"
    script.write_text(f"open({str(runs)!r}, 'a').write('x')\nfrom memsim.cli.mcp import mcp\nmcp()\n")

    async def talk():
        server = StdioServerParameters(command=sys.executable, args=[str(script)], env=environment())
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return await session.call_tool("explain", {"program": "nothing.cu"})

    assert "does not exist" in asyncio.run(talk()).content[0].text
    assert runs.read_text() == "x"  # the worker did not run the script again


@needs_capture
@pytest.mark.slow
def test_client_calls_tools_over_streams(folder):
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    import asyncio

    from mcp import ClientSession, StdioServerParameters, stdio_client

    async def talk():
        command = ["-m", "memsim", "mcp"]
        server = StdioServerParameters(command=sys.executable, args=command, cwd=str(folder), env=environment())
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            names = {one.name for one in (await session.list_tools()).tools}
            given = {"candidate": "scale.cu", "task": "task.py", "gpu": "a100"}
            judged = await session.call_tool("judge", given)
            wrong = await session.call_tool("explain", {"program": "nothing.cu"})
            profile = await session.call_tool("profile", {"program": "kernels.cu", "gpu": "a100"})
            return names, judged, wrong, profile

    names, judged, wrong, profile = asyncio.run(talk())
    assert names == {"profile", "judge", "explain", "what_if"}
    assert json.loads(judged.content[0].text)["verdict"] == "right"
    assert "nothing.cu" in wrong.content[0].text and "does not exist" in wrong.content[0].text
    assert len(json.loads(profile.content[0].text)["kernels"]) == 4
