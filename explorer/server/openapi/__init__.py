"""The public API as an OpenAPI document, and the page that shows it: one table of operations, shapes from ``TypedDict`` declarations."""
