from typing import assert_type

from metrichub import Hub

hub = Hub(["bleu", "rouge"])
scores = hub(predictions=["the cat sat on a mat"], references=["the cat sat on the mat"])

assert_type(scores["rouge"]["rougeL"], float)
