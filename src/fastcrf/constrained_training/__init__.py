"""The objective over the label sequences that constraints allow."""
