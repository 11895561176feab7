"""What is done with each document, a file for each step."""
