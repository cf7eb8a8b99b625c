"""What the program is: its version, and the folders that come with it."""
