"""The local page: a server on 127.0.0.1, what it answers, and the page itself in `static/`."""
