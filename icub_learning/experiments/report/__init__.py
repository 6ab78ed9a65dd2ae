"""One page with every experiment beside the published figures."""
