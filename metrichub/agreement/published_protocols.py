"""Named protocols: what a paper correlates with what, at which level, so that tables compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from metrichub.errors import ParameterError, did_you_mean


class Protocol(NamedTuple):
    """How a paper or a shared task measures agreement.

    `values` are the coefficients with their levels. `references` says how to use several
    references, if not in the metric's own way: "each" is the mean of the scores against each
    reference alone.
    """

    name: str
    title: str
    values: tuple[tuple[str, str], ...]
    draw: str
    references: str | None
    bibtex: str


def protocols() -> Mapping[str, Protocol]:
    """The protocols, by name."""
    return _PROTOCOLS


def protocol_of(name: str) -> Protocol:
    """The protocol of this name.

    Raises:
        ParameterError: there is none.
    """
    if name not in _PROTOCOLS:
        known = f"{', '.join(_PROTOCOLS)}{did_you_mean(str(name), _PROTOCOLS)}"
        raise ParameterError(None, "protocol", name, known)
    return _PROTOCOLS[name]


_PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "g-eval",
            "item-level Spearman and Kendall tau-b, each reference alone (UniEval, G-Eval)",
            (("item", "spearman"), ("item", "tau_b")),
            "both",
            "each",
            """@inproceedings{liu-etal-2023-g,
  title = {{G-Eval}: {NLG} Evaluation using {GPT}-4 with Better Human Alignment},
  author = {Liu, Yang and Iter, Dan and Xu, Yichong and Wang, Shuohang and Xu, Ruochen and
    Zhu, Chenguang},
  booktitle = {Proceedings of the 2023 Conference on Empirical Methods in Natural Language
    Processing},
  pages = {2511--2522},
  year = {2023},
}""",
        ),
        Protocol(
            "summeval",
            "system-level Kendall tau-b (SummEval)",
            (("system", "tau_b"),),
            "both",
            None,
            """@article{fabbri-etal-2021-summeval,
  title = {{SummEval}: Re-evaluating Summarization Evaluation},
  author = {Fabbri, Alexander R. and Kry{\\'s}ci{\\'n}ski, Wojciech and McCann, Bryan and
    Xiong, Caiming and Socher, Richard and Radev, Dragomir},
  journal = {Transactions of the Association for Computational Linguistics},
  volume = {9},
  pages = {391--409},
  year = {2021},
}""",
        ),
        Protocol(
            "qags",
            "Pearson over all outputs (QAGS)",
            (("pooled", "pearson"),),
            "items",
            None,
            """@inproceedings{wang-etal-2020-asking,
  title = {Asking and Answering Questions to Evaluate the Factual Consistency of Summaries},
  author = {Wang, Alex and Cho, Kyunghyun and Lewis, Mike},
  booktitle = {Proceedings of the 58th Annual Meeting of the Association for Computational
    Linguistics},
  pages = {5008--5020},
  year = {2020},
}""",
        ),
        Protocol(
            "wmt20-darr",
            "tau over pairs of an item rated 25 points apart, ties discordant (WMT 2020)",
            (("item", "tau_wmt"),),
            "items",
            None,
            """@inproceedings{mathur-etal-2020-results,
  title = {Results of the {WMT20} Metrics Shared Task},
  author = {Mathur, Nitika and Wei, Johnny and Freitag, Markus and Ma, Qingsong and
    Bojar, Ond{\\v{r}}ej},
  booktitle = {Proceedings of the Fifth Conference on Machine Translation},
  pages = {688--725},
  year = {2020},
}""",
        ),
        Protocol(
            "wmt25",
            "soft pairwise accuracy of systems, calibrated accuracy of items (WMT 2024, 2025)",
            (("system", "soft_pairwise_accuracy"), ("item", "acc_eq_calibrated")),
            "items",
            None,
            """@inproceedings{lavie-etal-2025-findings,
  title = {Findings of the {WMT25} Shared Task on Automated Translation Evaluation Systems:
    Linguistic Diversity is Challenging and References Still Help},
  author = {Lavie, Alon and Hanneman, Greg and Agrawal, Sweta and Kanojia, Diptesh and
    Lo, Chi-Kiu and Zouhar, Vil{\\'e}m and Blain, Frederic and Zerva, Chrysoula and
    Avramidis, Eleftherios and Deoghare, Sourabh and Sindhujan, Archchana and Wang, Jiayi and
    Adelani, David Ifeoluwa and Thompson, Brian and Kocmi, Tom and Freitag, Markus and
    Deutsch, Daniel},
  booktitle = {Proceedings of the Tenth Conference on Machine Translation},
  year = {2025},
}

@inproceedings{thompson-etal-2024-improving,
  title = {Improving Statistical Significance in Human Evaluation of Automatic Metrics via Soft
    Pairwise Accuracy},
  author = {Thompson, Brian and Mathur, Nitika and Deutsch, Daniel and Khayrallah, Huda},
  booktitle = {Proceedings of the Ninth Conference on Machine Translation},
  pages = {1222--1234},
  year = {2024},
}

@inproceedings{deutsch-etal-2023-ties,
  title = {Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie Calibration},
  author = {Deutsch, Daniel and Foster, George and Freitag, Markus},
  booktitle = {Proceedings of the 2023 Conference on Empirical Methods in Natural Language
    Processing},
  pages = {12914--12929},
  year = {2023},
}""",
        ),
        Protocol(
            "true",
            "area under the ROC curve of yes/no labels (TRUE)",
            (("pooled", "auc"),),
            "items",
            None,
            """@inproceedings{honovich-etal-2022-true,
  title = {{TRUE}: Re-evaluating Factual Consistency Evaluation},
  author = {Honovich, Or and Aharoni, Roee and Herzig, Jonathan and Taitelbaum, Hagai and
    Kukliansy, Doron and Cohen, Vered and Scialom, Thomas and Szpektor, Idan and
    Hassidim, Avinatan and Matias, Yossi},
  booktitle = {Proceedings of the 2022 Conference of the North American Chapter of the
    Association for Computational Linguistics: Human Language Technologies},
  pages = {3905--3920},
  year = {2022},
}""",
        ),
    )
}
DRAWS_BIBTEX = """@article{deutsch-etal-2021-statistical,
  title = {A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods},
  author = {Deutsch, Daniel and Dror, Rotem and Roth, Dan},
  journal = {Transactions of the Association for Computational Linguistics},
  volume = {9},
  pages = {1132--1146},
  year = {2021},
}"""
"""Of the intervals and the permutation tests."""
