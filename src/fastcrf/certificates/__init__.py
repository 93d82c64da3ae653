"""Lower bounds on the optimum: from one point, from a bundle of cutting planes, from a run."""
