"""The pages of a report, read back from disk."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from akbench.spec import InputError
from akbench.store.view import ToolCallView
from akbench_report.site import write_report


def _target(page, url):
    """The file and fragment that `url` on `page` leads to."""
    parts = urlsplit(url)
    path = page.path if not parts.path else page.path.parent / unquote(parts.path)
    return path.resolve(), unquote(parts.fragment)


def _dead_links(site):
    pages = {page.path.resolve(): page for page in site.pages}
    for page in pages.values():
        for url in page.links:
            if url.startswith("data:"):
                continue
            path, fragment = _target(page, url)
            if not path.is_file():
                yield f"{page.path}: {url} is not there"
            elif fragment and fragment not in pages[path].ids:
                yield f"{page.path}: {url} names no element"


def test_every_link_and_fragment_leads_somewhere(demo_site):
    assert list(_dead_links(demo_site)) == []


def test_every_page_nests_its_tags_and_repeats_no_id(demo_site):
    assert len(demo_site.pages) > 50
    for page in demo_site.pages:
        assert page.faults == [], page.path
        assert len(page.ids) == len(set(page.ids)), page.path


def test_every_page_has_its_landmarks_one_heading_and_a_skip_link(demo_site):
    for page in demo_site.pages:
        tags = [tag for tag, _ in page.elements]
        assert [tags.count(tag) for tag in ("main", "header", "footer", "h1", "title")] == [1] * 5, page.path
        assert "#main" in page.links
        heads = [attrs for tag, attrs in page.elements if tag == "th"]
        assert all("scope" in attrs for attrs in heads), page.path


def test_no_page_asks_anything_of_the_network(demo_site):
    for page in demo_site.pages:
        schemes = {urlsplit(url).scheme for url in page.links}
        assert schemes <= {"", "data"}, page.path
        assert not {tag for tag, _ in page.elements} & {"iframe", "object", "embed", "form", "base"}
    assert "url(" not in (demo_site.root / "assets" / "report.css").read_text()


def test_every_run_has_a_page_and_is_linked_from_its_experiment_task_and_variant(demo_site):
    for experiment in demo_site.lab.store.experiments.values():
        for run in experiment.runs:
            assert (demo_site.root / f"runs/{experiment.id}/{run.id}/index.html").is_file()
    for path in ("experiments/exp-0002/index.html", "tasks/bugfix-001/index.html", "runs/index.html"):
        assert any(url.endswith("exp-0002/run-0001/index.html") for url in demo_site.page(path).links), path


def test_no_failed_or_unfinished_run_is_hidden(demo_site):
    for experiment in demo_site.lab.store.experiments.values():
        page = demo_site.page(f"experiments/{experiment.id}/index.html")
        section = page.text.split("Failed and unfinished runs")[-1].split("What was asked for")[0]
        for run in experiment.runs:
            if not run.solved:
                assert run.id in section
                assert run.state.value in section
                assert (run.reason or "no reason recorded") in section


def test_numbers_of_scripted_runs_carry_the_label(demo_site):
    scripted = [
        "index.html",
        "experiments/exp-0001/index.html",
        "tasks/bugfix-002/index.html",
        "runs/exp-0001/run-0001/index.html",
        "runs/index.html",
    ]
    for path in scripted:
        page = demo_site.page(path)
        assert ("li", {"class": "label"}) in page.elements, path
        assert "they measure no model" in page.text
    assert "scripted model" not in demo_site.page("experiments/exp-0002/index.html").text


def test_real_and_scripted_runs_of_a_category_stand_in_different_rows(demo_site):
    rows = (
        demo_site.page("index.html").text.split("Success by task category")[-1].split("Success by task difficulty")[0]
    )
    assert rows.count("bug fix") == 2
    assert rows.count("scripted model") == 2  # bug fix and new feature, the real row without


def test_controls_stand_apart_from_contestants(demo_site):
    text = demo_site.page("experiments/exp-0001/index.html").text
    contestants = text.split("Contestants")[-1].split("Controls")[0]
    assert "codex-low" in contestants
    assert "oracle" not in contestants
    assert "noop" not in contestants
    categories = demo_site.page("index.html").text.split("Success by task category")[-1].split("Controls")[0]
    assert "56.2 %" in categories  # 9 of 16 judged contestant runs; with the controls it would be 17 of 28


def test_infrastructure_errors_are_counted_beside_and_not_in_the_rate(demo_site):
    text = demo_site.page("experiments/exp-0001/index.html").text
    row = text.split("agent = codex-high")[1].split("agent = sed")[0]
    assert "does not apply 8 6 5 83.3 %" in row  # runs, judged, solved, rate
    assert "1 infrastructure error , not counted" in row


def test_the_difference_to_the_baseline_is_shown_with_its_caution(demo_site):
    text = demo_site.page("experiments/exp-0001/index.html").text
    assert "+8.3 pp judged unequally often than the baseline on 2 tasks" in text


def test_a_missing_value_is_shown_with_its_reason(demo_site):
    for path in ("index.html", "runs/exp-0001/run-0001/index.html", "experiments/exp-0001/index.html"):
        assert "no price is known for the model" in demo_site.page(path).text


def test_unverified_and_mismatched_configuration_is_shown(demo_site):
    for path in ("runs/exp-0001/run-0001/index.html", "experiments/exp-0001/index.html"):
        text = demo_site.page(path).text
        assert "mismatch low low low high the provider's answer" in text
        assert "unverified model-a model-a not known not observed" in text


def test_a_run_page_tells_the_whole_story(demo_site):
    text = demo_site.page("runs/exp-0001/run-0001/index.html").text
    for part in (
        "tests/conftest.py",  # protected file touched
        "a nested repository was left in vendor/",
        "Target tests: 1 of 2 passed",
        "Regression tests: 1 of 1 passed",
        "AssertionError: assert 3 == 2",
        "+ return list(islice(iterable, n))",
        "python -m pytest -q tests/test_take.py",
        "exit code 1",
        "exit code not reported",
        "stream disconnected, retrying",
        "12,400",
        "Zażółć gęślą jaźń",
        "20.0 kB",
    ):
        assert part in text, part


def test_an_interrupted_run_is_shown_as_such(demo_site):
    text = demo_site.page("runs/exp-0002/run-0001/index.html").text
    assert "unfinished not counted for or against the agent interrupted" in text
    assert "EXECUTING" in text
    assert "did not finish" in text


def test_artifacts_are_linked_unless_a_browser_would_execute_them(demo_site):
    page = demo_site.page("runs/exp-0001/run-0001/index.html")
    assert any(url.endswith("data/artifacts/exp-0001/run-0001/diff.patch") for url in page.links)
    assert not any("page.html" in url for url in page.links)
    assert "agent/page.html no link: a browser might execute it" in page.text


def test_an_artifact_that_was_deleted_is_not_linked(lab, run, experiment, report_of):
    kept = lab.keep(run(), {"stdout.log": b"x"})
    lab.add(experiment(runs=(kept,)))
    kept.artifacts[0].path.unlink()
    page = report_of(lab).page("runs/exp-0001/run-0001/index.html")
    assert "stdout.log no longer on disk" in page.text
    assert not any("stdout.log" in url for url in page.links)


def test_nothing_that_an_agent_wrote_becomes_markup(hostile):
    for page in hostile.pages:
        scripts = [attrs for tag, attrs in page.elements if tag == "script"]
        assert [Path(attrs["src"]).name for attrs in scripts] == ["tables.js"], page.path
        assert "img" not in {tag for tag, _ in page.elements}
        assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")], page.path
        assert page.faults == [], page.path


def test_what_an_agent_wrote_is_still_shown_word_for_word(hostile):
    text = hostile.page("runs/exp-0001/run-0001/index.html").text
    assert text.count("<script>alert(1)</script>") >= 12


def test_control_characters_are_visible_and_never_raw(hostile):
    for page in hostile.pages:
        raw = [char for char in page.source if not (char.isprintable() or char in "\n\t")]
        assert raw == [], page.path
    assert "␀␛[2J⟨U+202E⟩" in hostile.page("runs/exp-0001/run-0001/index.html").text


def test_hostile_names_leave_no_dead_links(hostile):
    assert list(_dead_links(hostile)) == []


def test_a_lone_surrogate_does_not_stop_the_report(lab, run, experiment, report_of):
    lab.add(experiment(runs=(run(final_message="caf\udce9"),)))
    assert "caf⟨U+DCE9⟩" in report_of(lab).page("runs/exp-0001/run-0001/index.html").text


def test_a_huge_diff_is_cut_with_a_note_and_keeps_the_page_small(lab, run, experiment, report_of):
    kept = lab.keep(run(), {"diff.patch": b"x"})
    header = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,200000 @@\n"
    lab.tell(kept, diff=header + "+line\n" * 200_000)
    lab.add(experiment(runs=(kept,)))
    page = report_of(lab).page("runs/exp-0001/run-0001/index.html")
    assert "The diff is longer than what is shown here; diff.patch among the artifacts has all of it." in page.text
    assert len(page.source) < 400_000


def test_huge_outputs_and_messages_say_how_much_is_left_out(lab, run, experiment, report_of):
    one = run(final_message="m" * 60_000)
    lab.tell(
        one, calls=[ToolCallView(name="shell", command="yes", status=None, exit_code=0, output="y" * 25_000)] * 1_200
    )
    lab.add(experiment(runs=(one,)))
    text = report_of(lab).page("runs/exp-0001/run-0001/index.html").text
    assert "10,000 more characters not shown" in text
    assert "5,000 more characters not shown" in text
    assert "200 more calls not shown" in text


def test_two_versions_of_a_task_are_counted_apart(lab, run, task, experiment, report_of):
    lab.add(experiment())
    newer = task(version="2.0.0")
    lab.add(experiment("exp-0002", tasks=(newer,), runs=(run(experiment_id="exp-0002", end="unsolved"),)))
    text = report_of(lab).page("tasks/bugfix-001/index.html").text
    assert "Several versions:" in text
    assert "100 %" in text
    assert "50 %" not in text


def test_an_empty_store_gives_a_page_that_says_so(lab, report_of):
    assert "No experiment is stored yet." in report_of(lab).page("index.html").text


def test_an_experiment_without_runs_still_has_its_page(lab, experiment, report_of):
    lab.add(experiment(runs=(), finished_at=None, status="incomplete"))
    site = report_of(lab)
    text = site.page("experiments/exp-0001/index.html").text
    assert "no run was judged" in text
    assert "not finished" in text
    assert list(_dead_links(site)) == []


def test_only_the_chosen_experiments_are_reported(demo):
    site = write_report(demo.store, demo.project / "reports", ["exp-0002"]).parent
    assert [path.name for path in (site / "experiments").iterdir()] == ["exp-0002"]
    with pytest.raises(InputError, match="no experiment exp-0009"):
        write_report(demo.store, demo.project / "reports", ["exp-0009"])
    assert (site / "experiments" / "exp-0002").is_dir()


def test_a_second_report_replaces_the_first(demo):
    target = demo.project / "reports"
    write_report(demo.store, target, None)
    site = write_report(demo.store, target, ["exp-0002"]).parent
    assert not (site / "experiments" / "exp-0001").exists()
    assert not (site / "runs" / "exp-0001").exists()


@pytest.mark.slow
def test_a_thousand_runs_make_pages_of_a_usable_size(lab, run, task, variant, experiment, report_of):
    tasks = tuple(task(f"task-{number:03}") for number in range(50))
    variants = tuple(variant(f"variant-{number}") for number in range(4))
    runs = tuple(
        run(
            f"run-{number:04}",
            task_id=tasks[number % 50].id,
            variant_id=variants[number % 4].id,
            repetition=number // 200,
        )
        for number in range(1000)
    )
    lab.add(experiment(tasks=tasks, variants=variants, runs=runs))
    site = report_of(lab)
    assert len(list((site.root / "runs/exp-0001").iterdir())) == 1000
    assert max(path.stat().st_size for path in site.root.rglob("*.html")) < 2_000_000
