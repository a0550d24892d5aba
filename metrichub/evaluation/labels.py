"""Labels: how outputs and p-values are called in sentences and tables."""

from __future__ import annotations


def output_label(metric: str, card: str, output: str) -> str:
    """How a sentence or a table calls an output: bleu, rouge1, wer deletions."""
    if output == "score":
        return metric
    return output if metric == card and output.startswith(metric) else f"{metric} {output}"


def p_text(p: float, sign: str = "=") -> str:
    """A p-value as papers print it: "p = .0005", "p < .0001"."""
    if p < 1e-4:
        return "p < .0001"
    return f"p {sign} {f'{p:.4f}'.removeprefix('0').rstrip('0').rstrip('.')}"
