"""An agent with two models: one plans, the other one answers with the shell command that is run."""

import json
import os
import subprocess
import sys
import urllib.request


def answer_of(model, prompt):
    """The text that `model` streams, and the name under which it answered."""
    body = {
        "model": model,
        "stream": True,
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}],
    }
    request = urllib.request.Request(
        f"{os.environ['MODEL_URL']}/responses",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {os.environ['MODEL_TOKEN']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as stream:
        for line in stream:
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
                if event.get("type") == "response.completed":
                    response = event["response"]
    text = "".join(part["text"] for item in response["output"] for part in item.get("content", ()))
    return text, response["model"], response["usage"]


planned, planner, first = answer_of(sys.argv[1], sys.stdin.read())
command, coder, second = answer_of(sys.argv[2], f"Give the command for this plan: {planned}")
done = subprocess.run(command, shell=True, check=False)
tokens = first["input_tokens"] + second["input_tokens"]
print(json.dumps({"planner": planner, "coder": coder, "command": command, "tokens": tokens}), flush=True)
sys.exit(done.returncode)
