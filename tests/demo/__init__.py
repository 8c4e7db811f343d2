"""A demonstration cluster: a real broker and scripted real consumers, so that rebalances happen before one's eyes."""
