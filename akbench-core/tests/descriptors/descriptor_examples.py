"""One complete descriptor of each kind, as a person would write it."""

from akbench.spec import CAPABILITIES

HEADER = 'schema_version: "1.0"\nid: example\nversion: "1.0.0"\n'
CAPABILITY_LINES = "".join(f"    {name}: unknown\n" for name in CAPABILITIES)

EXAMPLES = {
    "agent": f"""\
{HEADER}agent:
  adapter: command
  execution_type: process
  capabilities:
{CAPABILITY_LINES}    tea_making: true
  configuration_schema:
    depth: {{type: string, allowed: [low, high], default: low}}
  observability: {{session_id: unsupported}}
  environment:
    - {{name: EXAMPLE_TOKEN, sensitive: true}}
""",
    "runtime": f"""\
{HEADER}runtime:
  adapter: example_router
  type: router
  lifecycles: [managed]
  capabilities: {{healthcheck: true, configuration_read: unknown}}
  configuration_schema:
    port: {{type: integer, controllable: false}}
  observability: {{model_selection: supported}}
  environment:
    - {{name: EXAMPLE_ROUTER_HOME, sensitive: false}}
""",
    "plugin": f"""\
{HEADER}plugin:
  provider: example-router
  type: knowledge
  capabilities:
    - knowledge_read
    - knowledge_write
    - retrieval
benchmark:
  enabled: true
  activation:
    method: router_configuration
  verification:
    required: true
    methods:
      - effective_router_config
      - plugin_runtime_events
  observed_env:
    - name: ACTUAL_ENV_NAME_FROM_PLUGIN
      type: boolean
      role: feature_toggle
      observed: true
      dimension: true
      controllable: true
      sensitive: false
    - name: ACTUAL_CONNECTION_ENV
      type: string
      role: infrastructure
      observed: true
      dimension: false
      controllable: false
      sensitive: true
  metrics:
    - knowledge_retrieval_count
""",
    "model": f"""\
{HEADER}model:
  provider: example
  name: example-large
  answers_as: [example-large-2026-01-01]
  context_window_tokens: 200000
  parameters:
    reasoning_effort: {{type: string, allowed: [low, high]}}
""",
    "category": f"{HEADER}category: {{judged_by: hidden tests}}\n",
    "task": f"{HEADER}task:\n  category: bug_fix\n  difficulty: easy\n  limits: {{timeout_seconds: 300}}\n",
    "evaluator": f"{HEADER}evaluator:\n  adapter: pytest\n  config: {{target: [tests/test_x.py]}}\n",
    "experiment": f"""\
{HEADER}experiment:
  type: configuration
  agent: {{id: oracle}}
  dataset: {{id: starter, version: "1.0.0"}}
  evaluation: {{evaluators: [pytest]}}
""",
    "dimension": f"""\
{HEADER}dimension:
  type: integer
  minimum: 1
  maximum: 8
  controllable: true
  source: the agent's configuration
  configure: {{target: agent.config, key: depth}}
  verify: {{method: the agent's session file}}
  requires: {{thinking: [true]}}
""",
    "metric": f"{HEADER}metric: {{adapter: example, unit: seconds, better: lower}}\n",
    "environment": f"""\
{HEADER}environment:
  sandbox: docker
  image: python:3.12-slim
  network: {{access: allow_list, allow: ["pypi.example:443"]}}
  limits: {{memory_bytes: 4294967296, cpus: 1.5, processes: 512}}
""",
}
