"""The registry: names, conflicts and broken plugins, all seen without importing a metric."""

from pathlib import Path

import pytest

from metrichub import Hub, list_metrics, load_metric
from metrichub.catalog.registry import origin, registry
from metrichub.errors import (
    AmbiguousMetric,
    BrokenMetric,
    CardError,
    MissingDependency,
    UnknownMetric,
)
from tests import plugins


def test_an_installed_plugin_is_found_loaded_and_scores(site: Path) -> None:
    plugins.distribution(site, "toy-dist", ["shout = toy_dist.shout:Toy"])
    plugins.metric(site, "toy_dist", "shout")
    entry = registry().find("shout")
    assert (entry.qualified, entry.version) == ("toy-dist/shout", "1.0")
    assert Hub("shout")(predictions=["a", ""]) == {"shout": {"score": 0.5}}
    assert origin(type(load_metric("shout"))) == entry


def test_the_signature_of_a_plugin_names_its_distribution_and_version(site: Path) -> None:
    plugins.distribution(site, "toy-dist", ["shout = toy_dist.shout:Toy"])
    plugins.metric(site, "toy_dist", "shout")
    report = Hub("loud = toy-dist/shout").evaluate(predictions=["a"])
    assert report.signatures() == {"loud": "loud = shout|definition:1|toy-dist:1.0|reduce:best"}


@pytest.mark.parametrize("name", ["toy-dist/shout", "toy_dist/shout", "Toy.Dist/shout"])
def test_a_distribution_is_found_however_its_name_is_spelt(site: Path, name: str) -> None:
    plugins.distribution(site, "Toy_Dist", ["shout = toy_dist.shout:Toy"])
    assert registry().find(name).qualified == "toy-dist/shout"


@pytest.mark.parametrize(
    "metadata",
    [
        "Name: toy-dist\nVersion: 2.0\n\nName: other\nVersion: 3.0\n",
        "Version:   2.0\nSummary: a\n        Name: other\nName: Toy_Dist\n",
        # The names of headers may be written in any case.
        "name: toy-dist\nVERSION: 2.0\n\nName: other\nVersion: 3.0\n",
    ],
)
@pytest.mark.parametrize("file", ["METADATA", "PKG-INFO"])
def test_name_and_version_stand_in_the_head_of_the_metadata(
    site: Path, file: str, metadata: str
) -> None:
    plugins.distribution(site, "toy-dist", ["shout = toy_dist.shout:Toy"])
    info = site / "toy_dist-1.0.dist-info"
    (info / "METADATA").unlink()
    (info / file).write_text(metadata)
    entry = registry().find("shout")
    assert (entry.distribution, entry.version) == ("toy-dist", "2.0")


def test_listing_and_reading_cards_runs_no_code_of_a_plugin(site: Path) -> None:
    plugins.distribution(site, "toy-dist", ["shout = toy_dist.shout:Toy"])
    plugins.metric(site, "toy_dist", "shout", code="raise SystemExit('imported')")
    listed = {e.qualified: e for e in list_metrics()}
    assert listed["toy-dist/shout"].card.summary == "A metric for a test."
    assert listed["toy-dist/shout"].problem is None


def test_a_plugin_never_takes_a_builtin_name(site: Path) -> None:
    plugins.distribution(site, "aaa-first", ["bleu = toy_bleu.bleu:Toy"])
    assert registry().find("bleu").distribution == "metrichub"
    assert [e.qualified for e in registry().shadowed()] == ["aaa-first/bleu"]
    assert registry().find("aaa-first/bleu").value == "toy_bleu.bleu:Toy"


def test_two_plugins_with_one_name_are_ambiguous_and_reached_by_the_qualified_name(
    site: Path,
) -> None:
    plugins.distribution(site, "dist-a", ["foo = toy_a.foo:Toy"])
    plugins.distribution(site, "dist-b", ["foo = toy_b.foo:Toy"])
    with pytest.raises(AmbiguousMetric, match=r"'foo'; choose 'dist-a/foo' or 'dist-b/foo'"):
        load_metric("foo")
    assert registry().find("dist-b/foo").value == "toy_b.foo:Toy"
    assert [e.qualified for e in registry().shadowed()] == ["dist-a/foo", "dist-b/foo"]


def test_an_unknown_qualified_name_gets_qualified_near_matches() -> None:
    with pytest.raises(UnknownMetric, match="did you mean 'metrichub/bleu'"):
        load_metric("metrichub/blue")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("task_completion", "'goal_accuracy'"),
        ("TaskCompletionMetric", "'goal_accuracy'"),
        ("tool_correctness", "'tool_call_f1'"),
        ("ToolCorrectnessMetric", "'tool_call_f1'"),
        ("RoleAdherencMetric", "'role_adherence'"),
        ("accuracy", "'classification', 'exact_match'"),
        ("accuracy_score", "'classification', 'exact_match'"),
        ("em", "'exact_match'"),
        ("f1", "'classification', 'token_f1'"),
        ("F1Score", "'classification', 'token_f1'"),
        ("precision", "'classification' or 'context_precision'"),
        ("recall", "'classification', 'rouge', 'context_entity_recall' or 'context_recall'"),
        ("bleu4", "'bleu'"),
        ("bleu-1", "'bleu'"),
        ("sacrebleu", "'bleu'"),
        ("chrf++", r"'chrf\(chrf\+\+\)'"),
        ("pass@1", "'pass_at_k'"),
        ("pass@k", "'pass_at_k'"),
        ("rouge1", "'rouge', which has the output 'rouge1'"),
        ("rougeLsum", "'rouge', which has the output 'rougeLsum'"),
        ("ROUGE-L", "'rouge', which has the output 'ROUGE-L'"),
        ("mer", "'cer' or 'wer', which have the output 'mer'"),
        ("macro_f1", "'classification' or 'multi_label', which have the output 'macro_f1'"),
        ("micro_f1", "'multi_label', which has the output"),
        ("ndcg@10", "'ranking', which has the output 'ndcg@10'"),
        ("score", "'summarization_score'"),
    ],
)
def test_a_name_of_other_programs_is_a_keyword_or_an_output(name: str, meant: str) -> None:
    with pytest.raises(UnknownMetric, match=f"did you mean {meant}"):
        load_metric(name)


@pytest.mark.parametrize(
    ("name", "command"),
    [("xyzzy", "metrichub list xyzzy"), ("xyzzy/foo", "metrichub list")],
)
def test_an_unknown_name_far_from_all_says_how_to_find_one(name: str, command: str) -> None:
    with pytest.raises(LookupError, match=rf"'{name}' is installed \('{command}' s"):
        load_metric(name)


NEEDY = plugins.CARD.replace("license", "requires: [toy-parser>=2]\nlicense")


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("Toy", "import toy_missing_package", r"^toy-dist/shout \(version 1.0\) .*ModuleNotFound"),
        ("Toy", "raise SystemExit('bye')", "SystemExit: bye"),
        ("Other", plugins.CODE, "has no attribute 'Other'"),
        ("dataclass", plugins.CODE, "toy-dist/shout: .* isn't a subclass of metrichub.Metric"),
    ],
)
def test_a_broken_plugin_is_listed_and_an_error_on_use(
    site: Path, name: str, code: str, message: str
) -> None:
    entries = [f"shout = toy_dist.shout:{name}", "calm = toy_dist.calm:Toy"]
    plugins.distribution(site, "toy-dist", entries)
    plugins.metric(site, "toy_dist", "shout", code=code)
    plugins.metric(site, "toy_dist", "calm")
    assert "toy-dist/shout" in {e.qualified for e in list_metrics()}
    assert Hub("calm")(predictions=["a"]) == {"calm": {"score": 1.0}}
    with pytest.raises(BrokenMetric, match=message):
        load_metric("shout")


def test_a_plugin_whose_requirements_are_missing_says_what_to_install(site: Path) -> None:
    plugins.distribution(site, "toy-dist", ["shout = toy_dist.shout:Toy"])
    plugins.metric(site, "toy_dist", "shout", card=NEEDY, code="import toy_parser\n")
    message = r"^shout needs toy-parser>=2, which isn't installed: pip install 'toy-parser>=2'$"
    with pytest.raises(MissingDependency, match=message):
        load_metric("shout")


def test_a_plugin_that_has_what_it_requires_lacks_nothing(site: Path) -> None:
    plugins.distribution(site, "toy-dist", ["shout = toy_dist.shout:Toy"])
    plugins.distribution(site, "toy-parser", [])
    plugins.metric(site, "toy_dist", "shout", card=NEEDY.replace(">=2", ">=1"))
    assert registry().find("shout").lacking is None
    assert registry().find("bleu").install == ""


def test_a_plugin_whose_package_is_gone_has_a_problem_and_no_card(site: Path) -> None:
    plugins.distribution(site, "toy-dist", ["shout = toy_gone.shout:Toy"])
    entry = registry().find("shout")
    assert "toy_gone.shout that its entry point names doesn't exist" in str(entry.problem)
    with pytest.raises(CardError):
        _ = entry.card


def test_filters_read_the_cards_and_combine(site: Path) -> None:
    plugins.distribution(site, "toy-dist", ["shout = toy_dist.shout:Toy"])
    plugins.metric(
        site, "toy_dist", "shout", card=plugins.CARD.replace("[prediction]", "[prediction, source]")
    )

    def finds(**tags: str) -> bool:
        return "shout" in {e.name for e in list_metrics(**tags)}

    assert finds(task="testing", dimension="novelty", family="toy")
    assert finds(input="source")
    assert finds(input="sources")
    assert not finds(task="testing", family="other")
    assert not finds(input="reference")
    assert not finds(dimension="testing")


def test_parameters_come_from_the_spec_and_from_keywords() -> None:
    metric = load_metric("bleu(max_order=2)", lowercase=True)
    assert metric == load_metric("bleu", max_order=2, lowercase=True)
    assert load_metric("b2 = bleu(max_order=2)").name == "b2"
    assert load_metric("bleu(max_order=2)", max_order=3) == load_metric("bleu", max_order=3)
