"""What a score is made of, as spans of the texts, for explanations."""
