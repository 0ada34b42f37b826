"""Secrets are masked, and what only looks like one to a careless eye is not."""

import pytest

from agent_sync.system.masking import masked, masked_values, secrets_of

SHA, TREE = "25fb45d1c0ffee25fb45d1c0ffee25fb45d1c0ff", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9nO2qR5tU8wX1zA4cD7fG0iJ3l"
SECRETS = {
    "GitHub": "ghp_" + LETTERS[:36],
    "GitHub, short": "ghs_a1B2c3D4",
    "GitHub, fine-grained": "github_pat_" + LETTERS[:22] + "_" + LETTERS[:30],
    "GitLab": "glpat-" + LETTERS[:20],
    "Anthropic": "sk-ant-api03-" + LETTERS,
    "OpenAI": "sk-proj-" + LETTERS,
    "Slack": "xoxb-1234567890-" + LETTERS[:24],
    "npm": "npm_" + LETTERS[:36],
    "PyPI": "pypi-AgEIcHlwaS5vcmc" + LETTERS,
    "Google": "AIza" + LETTERS[:35],
    "AWS id": "AKIA" + "IOSFODNN7EXAMPLE",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + LETTERS[:43],
    "Stripe": "sk_live_" + LETTERS[:24],
    "Hugging Face": "hf_" + LETTERS[:34],
}
IN_PLACE = {
    "AWS secret": ('aws_secret_access_key = "{}"', LETTERS[:40]),
    "AWS secret, bare": ("AWS_SECRET_ACCESS_KEY={}", LETTERS[:40]),
    "YAML": ("api_key: {}", LETTERS[:32]),
    "JSON": ('{{"password": "{}"}}', "hunter2-hunter2"),
    "password of an address": ("https://user:{}@example.invalid/x", "hunter2"),
    "token of an address": ("https://{}@example.invalid/x", LETTERS[:30]),
    "header": ("Authorization: Bearer {}", LETTERS[:24]),
    "Azure": ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};", LETTERS + "=="),
    "Azure SAS": ("https://x.blob.example.invalid/c?sv=2024-01-01&sig={}", LETTERS[:40] + "%3D"),
    "Slack's hooks": ("https://hooks.slack.com/services/{}", "T0123456/B0123456/" + LETTERS[:24]),
}
HARMLESS = (
    f"commit {SHA} with tree {TREE}",
    f"sha256:{SHA}{TREE[:24]}",
    "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "Fix the token authentication and the bearer authentication-scheme",
    "the password must be long; secret: nothing is said here",
    "sk-learn-compatible-estimators and sk-image-processing",
    "claude/fix-the-race-condition-in-the-cache-42",
    "octo-1731750000",
    "git@github.com:octo/demo.git and ssh://git@github.com/octo/demo.git",
    "https://github.com/octo/demo/pull/45#issuecomment-1234567890",
    "max_tokens: 4096, token_count 17, cache_key=2026-11-16",
    "<!-- agent-sync claim=octo-1731750000 issue=42 epoch=3 -->",
    "refs/agentsync/claims/42",
    "wss://host:8443/path and http://127.0.0.1:34567/_emulator/state",
)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("around", ["{}", "Fix {} now", "url_{}", "({})", "'{}',", "x={}\n"])
def test_tokens_are_masked_by_their_shape(secret, around):
    """A token is masked wherever it stands, and nothing around it is."""
    assert masked(around.format(secret)) == around.format("***")


@pytest.mark.parametrize(("around", "secret"), IN_PLACE.values(), ids=IN_PLACE)
def test_secrets_are_masked_by_their_place(around, secret):
    """What stands where a secret belongs is masked, and the rest can still be read."""
    found = masked(around.format(secret))
    assert secret not in found
    assert "***" in found
    assert found.startswith(around.format("")[:8])


@pytest.mark.parametrize("kind", ["RSA ", "OPENSSH ", "", "EC ", "PGP "])
def test_private_keys_are_masked_whole(kind):
    """A private key is masked from its first line to its last, also where the last is missing."""
    block = " BLOCK" if kind == "PGP " else ""
    key = f"-----BEGIN {kind}PRIVATE KEY{block}-----\n{LETTERS}\n{LETTERS}\n-----END {kind}PRIVATE KEY{block}-----"
    assert masked(f"before\n{key}\nafter") == "before\n***\nafter"
    assert masked(f"before\n{key[:100]}") == "before\n***"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    """Commits, digests, UUIDs, branches, addresses and sentences about tokens are left as they are."""
    assert masked(text) == text


def test_masking_twice_changes_nothing_more():
    """A masked text is left alone."""
    for text in (*SECRETS.values(), *(around.format(secret) for around, secret in IN_PLACE.values())):
        assert masked(masked(text)) == masked(text)


def test_values_of_the_environment_are_masked(monkeypatch):
    """What a variable with a secret's name holds is masked in every text; short values, words and paths are not."""
    monkeypatch.setenv("DEPLOY_TOKEN", "plain-looking-value")
    monkeypatch.setenv("DB_PASSWORD", "correct horse")
    monkeypatch.setenv("SHORT_KEY", "1234567")
    monkeypatch.setenv("MODE_KEY", "production")
    monkeypatch.setenv("SIGNING_KEY", "/etc/passwd")
    monkeypatch.setenv("EDITOR", "some-harmless-editor")
    assert masked("xplain-looking-valuex, correct horse") == "x***x, ***"
    same = "1234567 in production with /etc/passwd and some-harmless-editor"
    assert masked(same) == same


def test_given_secrets_are_masked_too():
    """Secrets that only the caller knows are masked, the longest first."""
    assert masked("one: abcdefgh-more, abcdefgh", ("abcdefgh", "abcdefgh-more")) == "one: ***, ***"


def test_texts_inside_values_are_masked():
    """Every text in a value for JSON is masked, so that its JSON is whole."""
    values = {"a": ["password=hunter2\\", 1, None], "b": {"c": SECRETS["GitHub"]}}
    assert masked_values(values) == {"a": ["password=***", 1, None], "b": {"c": "***"}}


def test_secret_names():
    """Variables count by the end of their name, whatever its case."""
    environment = {"a_token": "a" * 12, "B_SECRET": "b" * 12, "TOKENS": "c" * 12, "PGPASSWORD": "d" * 12}
    assert secrets_of(environment) == ("a" * 12, "b" * 12, "d" * 12)


@pytest.mark.parametrize(
    "piece", ["eyJ", "token ", "token: ", "-----BEGIN PRIVATE KEY-----", "://", "sk-", "https://a:", "a."]
)
def test_long_texts_are_gone_through_once(piece):
    """A long text of beginnings ends soon: no pattern looks at the same text again and again."""
    assert masked(piece * (150_000 // len(piece)))
