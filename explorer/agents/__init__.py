"""What an agent asks by the Model Context Protocol, answered by the API."""
