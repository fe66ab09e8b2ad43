"""The columns of this study's tables: plain names of ncu's metrics, and the tables themselves.

Metric names are those of compute capability 7.0 and later (Nsight Compute, Metrics Reference); a sector has 32 bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from memsim.support.errors import InputError
from memsim.support.files import replacing

_GLOBAL = {"load": "ld", "store": "st", "reduction": "red", "atomic": "atom"}
_LOCAL = {"load": "ld", "store": "st"}
_STALLS = (
    "barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard",
    "math_pipe_throttle", "membar", "mio_throttle", "no_instruction", "not_selected", "selected", "short_scoreboard",
    "sleeping", "tex_throttle", "wait",
)  # fmt: skip
_PIPES = ("alu", "fma", "fmaheavy", "fmalite", "fp64", "lsu", "xu", "uniform", "tensor", "adu", "cbu", "tex")
_SASS = {"global": _LOCAL, "shared": _LOCAL, "local": _LOCAL}

COLUMNS = {
    "nanoseconds": "gpu__time_duration.sum",
    "sm_cycles": "sm__cycles_elapsed.max",
    "active_cycles": "sm__cycles_active.max",
    "mean_active_cycles": "sm__cycles_active.avg",
    "l2_cycles": "lts__cycles_elapsed.max",
    "sm_hz": "sm__cycles_elapsed.avg.per_second",
    "l2_hz": "lts__cycles_elapsed.avg.per_second",
    "dram_hz": "dram__cycles_elapsed.avg.per_second",
    **{f"global_{name}_{what}": f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"
       for name, op in _GLOBAL.items() for what in ("requests", "sectors")},
    **{f"local_{name}_{what}": f"l1tex__t_{what}_pipe_lsu_mem_local_op_{op}.sum"
       for name, op in _LOCAL.items() for what in ("requests", "sectors")},
    **{f"{space}_{name}_hits": f"l1tex__t_sectors_pipe_lsu_mem_{space}_op_{op}_lookup_hit.sum"
       for space in ("global", "local") for name, op in _LOCAL.items()},
    **{f"global_{name}_wavefronts": f"l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_{op}.sum"
       for name, op in _LOCAL.items()},
    "data_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    **{f"shared_{name}_wavefronts": f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"
       for name, op in (*_LOCAL.items(), ("atomic", "atom"))},
    **{f"shared_{name}_conflicts": f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"
       for name, op in (*_LOCAL.items(), ("atomic", "atom"))},
    "sectors_to_l2": "l1tex__m_l1tex2xbar_write_sectors.sum",
    "sectors_from_l2": "l1tex__m_xbar2l1tex_read_sectors.sum",
    "request_cycles_to_l2": "l1tex__m_l1tex2xbar_req_cycles_active.sum",
    "l2_requests": "lts__t_requests_srcunit_tex.sum",
    "l2_sectors": "lts__t_sectors_srcunit_tex.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_read_hits": "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "l2_write_sectors": "lts__t_sectors_srcunit_tex_op_write.sum",
    "l2_write_hits": "lts__t_sectors_srcunit_tex_op_write_lookup_hit.sum",
    "l2_reduction_sectors": "lts__t_sectors_srcunit_tex_op_red.sum",
    "l2_atomic_sectors": "lts__t_sectors_srcunit_tex_op_atom.sum",
    "l2_fabric_sectors": "lts__t_sectors_srcunit_ltcfabric.sum",
    "l2_fabric_hits": "lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum",
    "l2_all_read_sectors": "lts__t_sectors_op_read.sum",
    "l2_all_read_hits": "lts__t_sectors_op_read_lookup_hit.sum",
    "l2_all_write_sectors": "lts__t_sectors_op_write.sum",
    "l2_all_sectors": "lts__t_sectors.sum",
    "l2_most_sectors_of_a_slice": "lts__t_sectors.max",
    "l2_mean_sectors_of_a_slice": "lts__t_sectors.avg",
    "l2_tag_requests": "lts__t_tag_requests.sum",
    "l2_fill_sectors": "lts__d_sectors_fill_device.sum",
    "dram_read_sectors": "dram__sectors_read.sum",
    "dram_write_sectors": "dram__sectors_write.sum",
    "instructions": "smsp__inst_executed.sum",
    "issued": "smsp__inst_issued.sum",
    "thread_instructions": "smsp__thread_inst_executed.sum",
    "thread_instructions_on": "smsp__thread_inst_executed_pred_on.sum",
    "active_warps": "sm__warps_active.avg.per_cycle_active",
    **{f"{space}_{name}_instructions": f"smsp__inst_executed_op_{space}_{op}.sum"
       for space, names in _SASS.items() for name, op in names.items()},
    "branches": "smsp__inst_executed_op_branch.sum",
    **{f"pipe_{name}": f"sm__inst_executed_pipe_{name}.sum" for name in _PIPES},
    "constant_requests": "idc__requests.sum",
    "constant_misses": "idc__requests_lookup_miss.sum",
    "code_requests": "sm__icc_requests.sum",
    "code_misses": "sm__icc_requests_lookup_miss.sum",
    **{f"stalled_{name}": f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio" for name in _STALLS},
    "registers": "launch__registers_per_thread",
    "shared_static": "launch__shared_mem_per_block_static",
    "shared_dynamic": "launch__shared_mem_per_block_dynamic",
    "shared_driver": "launch__shared_mem_per_block_driver",
    "shared_of_sm": "launch__shared_mem_config_size",
    "blocks_by_shared": "launch__occupancy_limit_shared_mem",
    "blocks_by_registers": "launch__occupancy_limit_registers",
    "blocks_by_warps": "launch__occupancy_limit_warps",
}  # fmt: skip


def write_table(path: Path, rows: Sequence[Mapping[str, object]], names: Iterable[str] = ()) -> None:
    """A CSV file, whole or not at all; columns are those given, else those of which some row has a value."""
    used = dict.fromkeys(name for row in rows for name, value in row.items() if value not in ("", None))
    order = list(dict.fromkeys([*used, *names])) if not names else list(names)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, order, restval="", lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)


def read_table(path: Path, needed: Iterable[str] = ()) -> list[dict[str, str]]:
    """The rows of a table.

    Raises:
        InputError: the file cannot be read, or lacks a column.
    """
    try:
        with path.open(newline="", encoding="utf-8") as opened:
            table = csv.DictReader(opened)
            rows = list(table)
    except OSError as error:
        raise InputError(path, "file", f"cannot be read: {error.strerror}") from None
    for name in needed:
        if name not in (table.fieldnames or []):
            raise InputError(path, name, "is no column; give a table of python -m experiments.silicon")
    return rows


def number(cell: str) -> float | None:
    """A cell's number; None if it is empty."""
    return float(cell) if cell else None


def short(value: float) -> str:
    """A number with six digits, or all of a whole one.

    >>> short(123456789.0), short(0.123456789)
    ('123456789', '0.123457')
    """
    return str(int(value)) if value == int(value) else f"{value:.6g}"
