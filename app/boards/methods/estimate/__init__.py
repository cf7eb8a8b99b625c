"""The method `estimate`: metrics with intervals, each entrant measured apart."""
