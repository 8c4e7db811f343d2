"""The page on which a timeline plays."""
