"""Trees judged as the core judges them: in a sandbox, over the real socket."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.tree import FILE, LINK, PROGRAM, Tree
from akbench.evaluate.evaluation import evaluate
from akbench.spec import Evaluator, Judgement
from akbench.testing.contract.agent_stage import environment_with, sandbox_named

type Files = dict[str, str | bytes]


def tree(files: Files, programs: tuple[str, ...] = (), links: tuple[str, ...] = ()) -> Tree:
    def entry(name: str, content: str | bytes) -> tuple[int, bytes]:
        mode = PROGRAM if name in programs else LINK if name in links else FILE
        return mode, content.encode() if isinstance(content, str) else content

    return Tree.of({os.fsencode(name): entry(name, content) for name, content in files.items()})


@dataclass
class Judge:
    """Judges trees with one evaluator; `sandbox` as in the contract tests."""

    root: Path
    evaluator: Evaluator
    requirements: tuple[str, ...] = ()
    sandbox: str = "auto"
    count: int = 0
    stdout: str = ""
    stderr: str = ""

    def __call__(self, final: Tree, given: Tree, checks: dict[str, str] | None = None, **config: object) -> Judgement:
        self.evaluator.check_config(config)
        self.count += 1
        scratch = self.root / f"evaluation-{self.count}"
        scratch.mkdir(parents=True)
        for folder in (self.root, *list(self.root.parents)[:2]):
            folder.chmod(folder.stat().st_mode | 0o055)  # never less: it could be everybody's temporary folder
        found = evaluate(
            tree=final,
            hidden_files=(),
            evaluator=self.evaluator,
            config={"timeout_seconds": 60, **config},
            environment=environment_with(self.requirements),
            python_path=(".",),
            sandbox=sandbox_named(self.sandbox),
            scratch=scratch,
            cancelled=threading.Event(),
            given=given,
            checks={name: text.encode() for name, text in (checks or {}).items()},
        )
        self.stdout, self.stderr = found.stdout.read_text(), found.stderr.read_text()
        return found.judgement
