"""What metrics share that compare the vectors of words: in context, or whatever stands beside."""
