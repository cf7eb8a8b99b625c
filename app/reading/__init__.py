"""Reading an upload in a process of its own, which may use so much memory and time and is killed beyond that."""
