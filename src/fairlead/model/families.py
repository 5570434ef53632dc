"""Families of models: who made one, told by its name, so that a council is not one voice.

Models of one family tend to overlook the same things. A name nobody knows belongs to `other`:
two strangers may be brothers, and then two families would be claimed where there is one.
"""

import re

OTHER = "other"
# Beginnings of the words in a model's name; the first word that is known decides.
_MARKS = {
    "claude": ("claude", "anthropic", "opus", "sonnet", "haiku"),
    "gpt": ("gpt", "chatgpt", "openai", "codex", "davinci"),
    "gemini": ("gemini", "gemma"),
    "llama": ("llama", "codellama"),
    "mistral": ("mistral", "mixtral", "ministral", "codestral", "devstral", "magistral"),
    "qwen": ("qwen", "qwq"),
    "deepseek": ("deepseek",),
    "grok": ("grok",),
    "glm": ("glm", "chatglm"),
    "kimi": ("kimi", "moonshot"),
    "minimax": ("minimax",),
    "command": ("command", "cohere"),
    "nova": ("nova",),
    "phi": ("phi",),
    "granite": ("granite",),
    "nemotron": ("nemotron",),
}
_REASONERS = re.compile(r"o[1-9]")  # o1, o3, o4-mini
_WORDS = re.compile(r"[a-z]+[0-9]*|[0-9]+")
_OWN = {
    "anthropic": "claude",
    "claude": "claude",
    "codex": "gpt",
    "gemini": "gemini",
    "openai": "gpt",
    "scripted": "scripted",
}


def family_of(agent_name: str, model: str, told: str = "") -> str:
    """The family of a model: as a person says, else by its name, else by the agent's own."""
    if told:
        return told.lower()
    for word in _WORDS.findall(model.lower()):
        if _REASONERS.fullmatch(word):
            return "gpt"
        for family, marks in _MARKS.items():
            if word.startswith(marks):
                return family
    return OTHER if model else _OWN.get(agent_name, OTHER)
