"""The DRAM channels: queues, scheduler, commands and their timing."""
