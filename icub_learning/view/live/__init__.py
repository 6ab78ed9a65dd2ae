"""Where a live page's numbers come from: topics, diagnostics and services of running nodes."""
