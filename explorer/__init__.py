"""What people see: the Django project, pages, sockets, figures and the API. Knows simulations and groups."""
