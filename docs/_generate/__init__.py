"""What the site takes from the code and the repository when it is built."""
