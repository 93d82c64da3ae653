"""Single-pass methods: adaptive step sizes, and lazy updates of the weights that a sequence uses."""
