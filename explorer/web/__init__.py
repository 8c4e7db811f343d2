"""What all pages and answers share: the endpoint, JSON and modules in a page, answers read together, the glossary's words, times."""
