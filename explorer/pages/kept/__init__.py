"""The page of all timelines that are kept: searched, filtered, compared, deleted; an import is one row."""
