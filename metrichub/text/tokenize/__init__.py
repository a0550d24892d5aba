"""From texts to tokens: every tokenizer over whole columns, and by its definition."""
