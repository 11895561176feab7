"""Behind `towpath transcribe` and `towpath watch`: where files go, what is shown meanwhile, where transcripts land."""
