"""Reading uploads in separate processes with limits of memory and time, which are killed beyond them."""
