"""What runs in the process that opens documents. Nothing here imports what lies outside, except what stands at the walls."""
