"""Families of models, told by their names."""

import pytest

from fairlead.agents.registry import family_of


@pytest.mark.parametrize(
    ("agent", "model", "family"),
    [
        ("claude", "", "claude"),
        ("anthropic", "", "claude"),
        ("codex", "", "gpt"),
        ("openai", "", "gpt"),
        ("gemini", "", "gemini"),
        ("opencode", "", "other"),
        ("claude", "opus", "claude"),
        ("opencode", "openrouter/anthropic/claude-sonnet-4.5", "claude"),
        ("openai", "gpt-5.1-codex", "gpt"),
        ("openai", "o3-mini", "gpt"),
        ("openai", "chatgpt-4o-latest", "gpt"),
        ("local", "meta-llama/Llama-3.3-70B", "llama"),
        ("local", "llama3:8b", "llama"),
        ("local", "deepseek-r1-distill-llama-70b", "deepseek"),
        ("local", "Qwen2.5-Coder-32B", "qwen"),
        ("openai", "gpt-oss-120b", "gpt"),
        ("openai", "mixtral-8x7b", "mistral"),
        ("gemini", "gemini-2.5-pro", "gemini"),
        ("local", "gemma2", "gemini"),
        ("openai", "my-own-model", "other"),
    ],
)
def test_the_family_follows_from_the_model_or_else_the_agent(agent, model, family):
    assert family_of(agent, model) == family


def test_a_configured_family_overrides_every_name():
    assert family_of("openai", "gpt-5", configured="Llama") == "llama"
