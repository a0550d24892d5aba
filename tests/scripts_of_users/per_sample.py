from metrichub import Hub

report = Hub(["chrf", "wer"]).evaluate("examples/summaries.jsonl")
frame = report.to_frame()

assert len(frame) == 40
