"""What strangers may do to a server, bounded in time: each attack, and what everybody else notices of it."""
