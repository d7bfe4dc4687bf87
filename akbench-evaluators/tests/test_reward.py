"""The evaluator `reward`: what the command leaves is a score, or no evidence at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from akbench.dataset.tree import FILE, Tree
from akbench.evaluate.evaluation import evaluate
from akbench.sandbox.local import LocalSandbox
from akbench.spec import InputError, Outcome
from akbench.testing.contract.agent_stage import environment_with
from akbench_evaluators.reward import RewardEvaluator, _rewarded
from akbench_evaluators.reward_runner import _rewards

CONFIG = {
    "command": ["sh", "/tests/test.sh"],
    "checks": ["test.sh"],
    "place": "/tests",
    "reward": ["/logs/verifier/reward.txt"],
}


@pytest.mark.parametrize(
    ("said", "outcome", "score"),
    [
        ("1", Outcome.FULL_SUCCESS, 1.0),
        ("1.0\n", Outcome.FULL_SUCCESS, 1.0),
        ("0", Outcome.FAILURE, 0.0),
        ("0.25", Outcome.PARTIAL_SUCCESS, 0.25),
        ('{"reward": 0.5, "style": 1}', Outcome.PARTIAL_SUCCESS, 0.5),
        ('{"passed": 1}', Outcome.FULL_SUCCESS, 1.0),
        ('{"style": 1, "speed": 1}', Outcome.EVALUATOR_ERROR, None),
        ('{"reward": "1"}', Outcome.EVALUATOR_ERROR, None),
        ("1.5", Outcome.EVALUATOR_ERROR, None),
        ("-1", Outcome.EVALUATOR_ERROR, None),
        ("NaN", Outcome.EVALUATOR_ERROR, None),
        ("true", Outcome.EVALUATOR_ERROR, None),
        ("", Outcome.EVALUATOR_ERROR, None),
        ("passed", Outcome.EVALUATOR_ERROR, None),
        ("1" + "0" * 400, Outcome.EVALUATOR_ERROR, None),
        ("[" * 100_000, Outcome.EVALUATOR_ERROR, None),
    ],
)
def test_a_reward_is_a_number_from_0_to_1_or_nothing_that_could_be_counted(said: str, outcome: Outcome, score):
    found = _rewarded("/logs/verifier/reward.json", said, exit_code=0)
    assert (found.outcome, found.score) == (outcome, score)


def test_only_plain_files_are_read_and_nothing_is_waited_for(tmp_path: Path):

    (tmp_path / "plain").write_text("1")
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    places = [str(tmp_path / name) for name in ("plain", "link", "pipe", "folder", "nothing")]
    assert _rewards(places) == {places[0]: "1"}


def test_a_sandbox_that_cannot_show_the_places_is_refused_with_their_names(tmp_path: Path):
    with pytest.raises(InputError, match="/logs/verifier, /tests, which this sandbox cannot show"):
        evaluate(
            tree=Tree.of({b"a": (FILE, b"")}),
            hidden_files=(),
            evaluator=RewardEvaluator(),
            config=CONFIG,
            environment=environment_with(),
            python_path=(".",),
            sandbox=LocalSandbox(),
            scratch=tmp_path,
            cancelled=threading.Event(),
            checks={"test.sh": b"true"},
        )
