"""The agent's configuration as values, and the config.toml made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import tomli_w

from akbench.spec import AgentRequest, InputError, JsonValue, ModelAccess

__all__ = ["KEY_VARIABLE", "PROVIDER", "Settings", "config_toml"]

PROVIDER = "akbench"
KEY_VARIABLE = "AKBENCH_MODEL_TOKEN"
"""The variable that hands Codex the run's stand-in key; its commands do not inherit it."""

DEFAULTS: dict[str, JsonValue] = {
    "reasoning_effort": "medium",
    "request_max_retries": 4,
    "stream_max_retries": 5,
    "stream_idle_timeout_ms": 300_000,
}
"""What the descriptor declares for keys that an experiment leaves out."""

FEATURES = (
    "apps",
    "goals",
    "hooks",
    "image_generation",
    "memories",
    "plugins",
    "shell_snapshot",
    "unbounded_connection_retries",
)
"""Features switched off: they phone home, read the host's settings, leave the task, or retry without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an experiment may set; see the descriptor ``codex.yaml`` for the meaning of each."""

    model: str
    reasoning_effort: str
    request_max_retries: int
    stream_max_retries: int
    stream_idle_timeout_ms: int

    @classmethod
    def read(cls, config: Mapping[str, JsonValue]) -> Settings:
        """The settings of `config`. Raises `InputError` naming the key that cannot be used."""
        values = DEFAULTS | {key: value for key, value in config.items() if value is not None}
        return cls(
            model=_text(values, "model"),
            reasoning_effort=_text(values, "reasoning_effort"),
            request_max_retries=_count(values, "request_max_retries"),
            stream_max_retries=_count(values, "stream_max_retries"),
            stream_idle_timeout_ms=_count(values, "stream_idle_timeout_ms"),
        )

    def provider(self, access: ModelAccess) -> dict[str, object]:
        """The model provider's section of config.toml."""
        return {
            "name": PROVIDER,
            "base_url": access.base_url,
            "wire_api": "responses",
            "env_key": KEY_VARIABLE,
            "request_max_retries": self.request_max_retries,
            "stream_max_retries": self.stream_max_retries,
            "stream_idle_timeout_ms": self.stream_idle_timeout_ms,
        }


def config_toml(settings: Settings, request: AgentRequest, access: ModelAccess) -> bytes:
    """The whole configuration of one run; it holds no secret."""
    document = {
        "model": settings.model,
        "model_reasoning_effort": settings.reasoning_effort,
        "model_provider": PROVIDER,
        "web_search": "disabled",
        "check_for_update_on_startup": False,
        # A login shell reads the host's profile, which would replace the PATH of the task's environment.
        "allow_login_shell": False,
        "analytics": {"enabled": False},
        "feedback": {"enabled": False},
        "history": {"persistence": "none"},
        "agents": {"enabled": False},
        "features": dict.fromkeys(FEATURES, False),
        # Where Codex's own sandbox is all there is: the host's /tmp holds what is not this run's.
        "sandbox_workspace_write": {"exclude_slash_tmp": True},
        "shell_environment_policy": {"inherit": "none", "set": dict(request.environ)},
        "model_providers": {PROVIDER: settings.provider(access)},
    }
    return tomli_w.dumps(document).encode()


def _text(config: Mapping[str, JsonValue], key: str) -> str:
    value = config.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"agent configuration: {key} must be a text that is not empty, got {value!r}")
    return value


def _count(config: Mapping[str, JsonValue], key: str) -> int:
    value = config.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"agent configuration: {key} must be a whole number, 0 or more, got {value!r}")
    return value
