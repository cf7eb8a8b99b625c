"""What a running server says of itself: its log, its figures, its traces."""
