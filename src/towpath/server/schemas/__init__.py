"""What the API takes and answers, one file per resource. Answers are promises; requests refuse what they do not know."""
