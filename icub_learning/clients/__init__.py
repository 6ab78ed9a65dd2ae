"""Clients of running nodes: services, topics and their statistics, domains, child processes."""
