"""The L1 and L2 penalties: their scales, soft thresholding and the geometry of orthants."""
