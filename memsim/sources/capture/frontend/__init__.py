"""From CUDA C++ to an instrumented copy of it and a site table."""
