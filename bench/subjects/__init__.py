"""What is being measured: Towpath itself."""
