"""Lower bounds on the optimum: of one point, of a bundle of cutting planes, of a run."""
