"""What the commands of `towpath documents` are made of."""
