"""A provider's key reaches the provider and nothing else: no sandbox, no file, no line of output.

What nobody names of the harness's environment goes nowhere at all.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import secrets
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from project_under_test import ProjectUnderTest

from akbench.testing.script import parse_scripts
from akbench.testing.scripted_model import ScriptedModel

ACCUSATION = "Incorrect API key provided"

ASKER = r"""
import glob, gzip, os, pathlib, sys, urllib.error, urllib.request

base_url, token = sys.argv[1:]
request = urllib.request.Request(base_url + "/responses", b"question", {"Authorization": "Bearer " + token})
try:
    urllib.request.urlopen(request, timeout=60)
except urllib.error.HTTPError as refused:
    head = f"{refused.status} {refused.reason} {refused.headers}"
    reply = head.encode() + refused.read()
for stream in (sys.stdout, sys.stderr):
    stream.buffer.write(reply)
pathlib.Path("reply.txt").write_bytes(reply)
pathlib.Path("reply.bin").write_bytes(b"\0" + reply)
pathlib.Path("reply.gz").write_bytes(gzip.compress(reply))
print(dict(os.environ))
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        print(path, pathlib.Path(path).read_bytes())
    except OSError as error:
        print(path, error.strerror)
"""

LOOK_AROUND = """\
schema_version: "1.0"
scripts:
  - match: "`greet` loses a member"
    steps:
      - run: env
      - run: cat /proc/[0-9]*/environ
      - say: There was no key.
"""


@dataclass
class Canary:
    """A secret whose parts cannot come about by chance; JSON has to escape what stands between them."""

    name: str
    parts: tuple[str, str] = field(default_factory=lambda: (secrets.token_hex(8), secrets.token_hex(8)))

    @property
    def value(self) -> str:
        return '"'.join(self.parts)

    @property
    def environ(self) -> dict[str, str]:
        return {self.name: self.value}

    def is_in(self, content: bytes) -> bool:
        return any(spelling in content for part in self.parts for spelling in _spellings(part.encode()))

    def traces(self, project: ProjectUnderTest) -> list[Path]:
        """The files below data/ and reports/ that hold a part of it in any spelling."""
        return [path for path in _kept_files(project) if self.is_in(path.read_bytes())]


def _spellings(part: bytes) -> Iterator[bytes]:
    yield part
    for before in range(3):
        yield base64.b64encode(bytes(before) + part)[4:-4]


def _kept_files(project: ProjectUnderTest) -> list[Path]:
    found = [path for folder in ("data", "reports") for path in (project.root / folder).rglob("*") if path.is_file()]
    names = {path.name for path in found}
    assert {"akbench.sqlite", "experiment.json", "events.jsonl", "stdout.log", "index.html"} <= names
    return found


class AccusingProvider(ThreadingHTTPServer):
    """Refuses every key with 401 and repeats it: in the status line, in headers, in the body."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Accuser)
        self.authorizations: set[str | None] = set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Accuser(BaseHTTPRequestHandler):
    server: AccusingProvider

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.refuse()

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.refuse()

    def refuse(self):
        given = self.headers.get("Authorization")
        self.server.authorizations.add(given)
        message = f"{ACCUSATION}: {given} ({base64.b64encode(str(given).encode()).decode()})"
        body = json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": "invalid_api_key"}})
        self.send_response(401, f"Unauthorized {given}")
        self.send_header("X-Given", str(given))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for start in range(0, len(body), 10):
            self.wfile.write(body[start : start + 10].encode())
            self.wfile.flush()


@pytest.fixture
def provider() -> Iterator[AccusingProvider]:
    with AccusingProvider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def key() -> Canary:
    return Canary("CANARY_KEY")


@pytest.fixture
def bystander() -> Canary:
    """A variable of the harness's environment that nobody names."""
    return Canary("BYSTANDER_TOKEN")


def run(project: ProjectUnderTest, agent: str, base_url: str, *canaries: Canary) -> str:
    """Run the agent once and report; all that the commands print."""
    endpoint = f"  execution: {{model_endpoint: {{base_url: '{base_url}', api_key_env: CANARY_KEY}}}}\n"
    file = project.experiment("secrets", agent, extra=endpoint, policy="timeout_seconds: 120")
    environ = {name: value for canary in canaries for name, value in canary.environ.items()}
    commands = (
        ("experiment", "run", file, "--yes"),
        ("report",),
        ("experiment", "show", "exp-0001", "--json"),
        ("experiment", "show", "exp-0001"),
    )
    done = [project.akbench(*command, **environ) for command in commands]
    assert [each.returncode for each in done[1:]] == [0, 0, 0], done
    return "".join(each.stdout + each.stderr for each in done)


def run_folder(project: ProjectUnderTest) -> Path:
    return project.root / "data" / "artifacts" / "exp-0001" / "run-0001"


def assert_nowhere(project: ProjectUnderTest, printed: str, *canaries: Canary) -> None:
    for canary in canaries:
        assert canary.traces(project) == []
        assert not canary.is_in(printed.encode())
    assert list((project.root / "data" / "workspaces").iterdir()) == []


def patched_files(patch: Path, folder: Path) -> dict[str, bytes]:
    """The files that a patch adds: git packs binary ones."""
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    subprocess.run(["git", "apply", patch], cwd=folder, check=True)
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.bubblewrap
def test_a_key_that_the_provider_echoes_stays_away_from_agent_and_disk(project, provider, key, bystander, tmp_path):
    (project.root / "asker").mkdir()
    (project.root / "asker" / "ask.py").write_text(ASKER)
    agent = f"""
asker:
  id: command
  config:
    programs: {{asker: {project.root / "asker"}}}
    command: [python, "{{program:asker}}/ask.py", "{{model_base_url}}", "{{model_token}}"]
"""
    printed = run(project, agent, provider.base_url, key, bystander)
    assert provider.authorizations == {f"Bearer {key.value}"}
    said = (run_folder(project) / "stdout.log").read_text()
    assert ACCUSATION in said
    assert ACCUSATION in (run_folder(project) / "stderr.log").read_text()
    assert "'HOME': '/home/agent'" in said
    assert "/proc/1/environ" in said
    assert_nowhere(project, printed, key, bystander)
    work = patched_files(run_folder(project) / "diff.patch", tmp_path / "patched")
    replies = [work["reply.txt"], work["reply.bin"], gzip.decompress(work["reply.gz"])]
    assert all(ACCUSATION.encode() in reply for reply in replies)
    assert not any(key.is_in(reply) for reply in replies)


@pytest.mark.codex
def test_a_key_that_the_provider_refuses_to_codex_is_kept_nowhere(project, provider, key, bystander):
    agent = "codex: {id: codex, config: {model: gpt-5.5, request_max_retries: 0, stream_max_retries: 0}}"
    printed = run(project, agent, provider.base_url, key, bystander)
    assert provider.authorizations == {f"Bearer {key.value}"}
    result = project.result("exp-0001", "run-0001")
    assert (result["state"], result["model_source"]) == ("INVALID_CONFIGURATION", "provider")
    assert ACCUSATION in result["reason"], "so that an echo of the key would have been kept with it"
    assert any((run_folder(project) / "agent").glob("rollout-*.jsonl"))
    assert_nowhere(project, printed, key, bystander)


@pytest.mark.codex
@pytest.mark.bubblewrap
def test_the_commands_that_codex_runs_see_no_key(project, key, bystander):
    with ScriptedModel(parse_scripts(LOOK_AROUND, source="script.yaml")) as model:
        printed = run(project, "codex: {id: codex, config: {model: gpt-5.5}}", model.base_url, key, bystander)
        given = {request.authorization_sha256 for request in model.requests}
    assert given == {hashlib.sha256(f"Bearer {key.value}".encode()).hexdigest()}
    calls = [json.loads(line) for line in (run_folder(project) / "tool_calls.jsonl").read_text().splitlines()]
    own, others = (call["output"] for call in calls)
    assert "HOME=/home/agent" in own
    assert "AKBENCH_MODEL_TOKEN" not in own
    assert "HOME=/home/agent" in others
    assert_nowhere(project, printed, key, bystander)
