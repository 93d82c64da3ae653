"""Other solvers that evaluate the entire corpus at each iteration."""
