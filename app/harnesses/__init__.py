"""What evaluation harnesses write, read from their own files: a module for each harness."""
