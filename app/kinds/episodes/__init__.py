"""Evidence kind episodes: result bundles, SpikeRun files and tables of episodes."""
