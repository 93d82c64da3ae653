"""Methods made for one pass: step sizes that adapt themselves, and weights that wait until a sequence looks at them."""
