"""The sources of a live page: topics, diagnostics and services of running nodes."""
