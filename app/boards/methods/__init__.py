"""The ranking methods: a module or a package for each, named as in a manifest. `app.boards.registry` loads them."""
