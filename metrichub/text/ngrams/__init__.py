"""N-grams of whole columns: matches, distinct ones, frequencies."""
