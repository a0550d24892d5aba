from metrichub.testing import MetricContract


class TestNumberRecall(MetricContract):
    metric = "number_recall"
