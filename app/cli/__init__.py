"""The command `plumbline`: a file for each group of commands, put together in `app.cli.__main__`."""
