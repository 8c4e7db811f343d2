"""What all pages and answers share: the endpoint, JSON and modules in a page, the glossary's words, times."""
