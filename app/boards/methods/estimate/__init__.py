"""The method `estimate`: metrics with intervals, each entrant measured by itself."""
