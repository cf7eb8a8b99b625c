"""What several tests share: benchmarks, uploads, oracles, servers."""
