"""Values as people read them."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from akbench.spec import Reading
from akbench_report import wording
from akbench_report.compare import summarise
from akbench_report.measure import Measures


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("a\x00b", "a␀b"),
        ("a\rb", "a␍b"),
        ("\u202egpj.exe", "⟨U+202E⟩gpj.exe"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("lone \udc80", "lone ⟨U+DC80⟩"),
        ("c1 \x9b", "c1 ⟨U+009B⟩"),
        ("del \x7f", "del ␡"),
    ],
)
def test_what_would_be_invisible_is_shown(hidden, shown):
    assert wording.visible(hidden) == shown


@pytest.mark.parametrize("text", ["line\n\tindented", "Zażółć gęślą jaźń", "日本語 🙂", "non\u00a0breaking"])
def test_ordinary_text_stays_as_it_is(text):
    assert wording.visible(text) == text


def test_markup_of_our_own_passes_and_foreign_text_stays_text():
    assert isinstance(wording.visible(Markup("<b>")), Markup)
    assert not isinstance(wording.visible("<b>"), Markup)


def test_a_missing_value_is_never_printed_as_none():
    assert wording.visible(None) == "not recorded"


@pytest.mark.parametrize(
    ("amount", "unit", "shown"),
    [
        (1234567, "tokens", "1,234,567"),
        (0.0031, "seconds", "3 ms"),
        (0.5, "seconds", "0.50 s"),
        (59.96, "seconds", "1 min 00 s"),
        (83.4, "seconds", "1 min 23 s"),
        (7384, "seconds", "2 h 03 min"),
        (0.00123, "USD", "$0.0012"),
        (12.5, "USD", "$12.50"),
        (999, "bytes", "999 B"),
        (1000, "bytes", "1.0 kB"),
        (2_500_000, "bytes", "2.5 MB"),
        (3_000_000_000_000, "bytes", "3000.0 GB"),
        (0.25, "fraction", "25 %"),
        (7, "retrievals", "7 retrievals"),
        (True, None, "yes"),
        ("main", None, "main"),
        (1.5, None, "1.5"),
    ],
)
def test_a_quantity_has_the_form_of_its_unit(amount, unit, shown):
    assert wording.quantity(amount, unit) == shown


def test_a_difference_is_always_signed():
    assert (wording.points(0.083), wording.points(-0.75)) == ("+8.3 pp", "\N{MINUS SIGN}75.0 pp")


@pytest.mark.parametrize(("content", "shown"), [("high", "high"), ("3", '"3"'), (3, "3"), ("", '""'), (["ü"], '["ü"]')])
def test_a_text_cannot_be_mistaken_for_another_json_value(content, shown):
    assert wording.json_text(content) == shown


def test_a_metrics_name_and_unit_come_from_its_descriptor(experiment):
    text = "id: latency\ntitle: Retrieval latency\nmetric: {adapter: x, unit: seconds, better: lower}\n"
    measures = Measures([experiment(snapshots={"metric/latency": {"text": text}})])
    assert (measures.title("latency"), measures.shown("latency", 0.5)) == ("Retrieval latency", "0.50 s")


def test_the_middle_of_fractions_is_their_mean_and_of_anything_else_the_median():
    measures, readings = Measures([]), [Reading(value=0), Reading(value=1), Reading(value=1)]
    assert measures.centre(summarise("task_success_rate", readings)) == "66.7 %"
    assert measures.centre(summarise("input_tokens", readings)) == "1"


@pytest.mark.parametrize("text", ["{", "- a list", "title: no unit\n", ""])
def test_a_metric_whose_descriptor_is_unreadable_keeps_its_number(experiment, text):
    measures = Measures([experiment(snapshots={"metric/odd_thing": {"text": text}})])
    assert (measures.title("odd_thing"), measures.shown("odd_thing", 3)) == ("odd thing", "3")
