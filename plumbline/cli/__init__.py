"""The commands of the client; `app.cli` has the server's beside them."""
