"""Other solvers that evaluate the whole corpus at each iteration."""
