"""What the commands of `towpath batch` are made of."""
