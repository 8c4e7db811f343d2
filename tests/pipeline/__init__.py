"""The Spark pipeline: recognising, reading, naming, cutting into units and incarnations, folding, importing."""
