"""The engine: models on this machine, and the one place where texts become tensors.

`load` finds a model and gives an `Encoder` or another runner, the same one to all metrics of a
process; `Tokenizer` makes its tokens; `in_batches` runs them.
"""
