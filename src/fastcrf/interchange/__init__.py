"""Models of other CRF toolkits: their files in, their files out."""
