"""What `fastcrf tag` writes, and how it chooses labels."""
