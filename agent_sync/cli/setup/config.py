"""`agent-sync config`: list, read and change settings."""

import json
from pathlib import Path
from typing import Any

import click

from agent_sync import settings as settings_file
from agent_sync.cli.here import place_here, refuse_agent
from agent_sync.errors import BadConfig, BadInput
from agent_sync.settings import LoadedSettings, Origin
from agent_sync.settings.approvals import Approvals
from agent_sync.settings.authority import needs_approval
from agent_sync.settings.loading import requests_in, validated_settings
from agent_sync.settings.problems import nearest, refuse_unknown, unknown_in
from agent_sync.settings.sources import LARGEST, from_text, parsed_toml, user_file, variables
from agent_sync.system import clock, files
from agent_sync.worktree import SETTINGS_NAME

LOCK_NAME, LOCK_WAIT = "settings.lock", 20.0


@click.group("config")
def command() -> None:
    """List, read and change settings.

    Strongest first: an AGENT_SYNC_* variable, your own file (~/.config/agent-sync/config.toml), the repository's
    .agent-sync.toml, the default.

    \b
    Examples:
      agent-sync config list --show-origin
      agent-sync config set project.number 7
      agent-sync config set --user github.url https://github.example.com
    """


@command.command("list")
@click.option("--show-origin", is_flag=True, help="Say where each value was set.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_all(*, show_origin: bool, as_json: bool) -> None:
    """List every setting with the value that counts.

    \b
    Example:
      agent-sync config list --show-origin
    """
    loaded = _loaded()
    if as_json:
        rows = [{"key": key, "value": _value(loaded, key), "origin": str(loaded.origin(key))} for key in _keys()]
        click.echo(json.dumps({"settings": rows}, ensure_ascii=False))
        return
    for key in _keys():
        origin = f"{loaded.origin(key):<12}" if show_origin else ""
        click.echo(f"{origin}{key} = {json.dumps(_value(loaded, key), ensure_ascii=False)}")


@command.command("get")
@click.argument("key")
def get(key: str) -> None:
    """Print the value of one setting.

    \b
    Example:
      agent-sync config get checks.backoff_s
    """
    _refuse_unknown(key)
    value = _value(_loaded(), key)
    click.echo(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


@command.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value")
@click.option("--user", "for_user", is_flag=True, help="Write your own file instead of the repository's.")
def set_one(key: str, value: str, *, for_user: bool) -> None:
    """Set one setting in the repository's .agent-sync.toml, or in your own file; comments and order stay.

    What you set is approved for this clone, as by `agent-sync trust`. Inside an agent's session only what a
    repository may decide alone can be set.

    \b
    Examples:
      agent-sync config set board.ready "Ready for work"
      agent-sync config set --user github.url https://github.example.com
    """
    _refuse_unknown(key)
    place, environment = place_here(), settings_file.environment()
    if value.encode("utf-8", "replace").decode() != value:
        raise BadInput(f"The value for {key} is not UTF-8 text.", attempted=f"setting {key}", helps="type it again")
    table, name = key.split(".")
    read = from_text(table, name, value)
    if for_user or needs_approval(key, read):
        refuse_agent(environment, f"set {key}{' for the user' if for_user else ''}", attempted=f"setting {key}")
    file = user_file(environment) if for_user else Path(place.settings_file)
    if file is None:
        raise BadConfig("There is no home directory, so no file of your own.", helps="set HOME or XDG_CONFIG_HOME")
    files.make_directory(file.parent, mode=0o755)
    lock = file.with_suffix(".lock") if for_user else Path(place.state_dir) / LOCK_NAME
    with files.locked(lock, wait=LOCK_WAIT, doing=f"setting {key}"):
        content = _changed_file(file, table, name, read, may_be_link=for_user)
        files.write_atomic(file.resolve() if for_user else file, content, mode=files.REPOSITORY)
    if not for_user:
        written = [
            one for one in requests_in(parsed_toml(content, file=str(file)), source=SETTINGS_NAME) if one.key == key
        ]
        Approvals(place).add(written, clock.now())
    click.echo(f"{key} = {json.dumps(read, ensure_ascii=False)}  ({file})")


def _loaded() -> LoadedSettings:
    """Return the settings that count here, if every one that is set is known."""
    loaded = settings_file.load(place_here(), settings_file.environment())
    refuse_unknown(loaded.unknown)
    return loaded


def _keys() -> list[str]:
    return [".".join(where) for where in variables().values()]


def _value(loaded: LoadedSettings, key: str) -> Any:
    table, name = key.split(".")
    return getattr(getattr(loaded.settings, table), name)


def _refuse_unknown(key: str) -> None:
    if key not in _keys():
        raise BadInput(f"{key[:100]!r} is not a setting.{nearest(key, _keys())}", helps="agent-sync config list")


def _changed_file(file: Path, table: str, name: str, value: object, *, may_be_link: bool) -> bytes:
    """Return the file's bytes with one setting changed, every other byte as it was."""
    import tomlkit

    try:
        before = files.read_plain(file, largest=LARGEST, may_be_link=may_be_link) or b""
    except files.NotPlain as reason:
        raise BadConfig(
            f"{file} cannot be changed: {reason}.", helps=f"replace {file.name} by a plain file"
        ) from reason
    refuse_unknown(tuple(unknown_in(parsed_toml(before, file=str(file)), file=str(file))))
    document = tomlkit.parse(before.decode())
    section = document.setdefault(table, tomlkit.table())
    if not hasattr(section, "update"):
        raise BadConfig(f"{file}: {table} is not a table.", helps=f"correct {file.name}")
    section.update({name: value})
    content = tomlkit.dumps(document).encode()
    # Nothing is written that could not be read again.
    validated_settings({Origin.USER: parsed_toml(content, file=str(file))}, {Origin.USER: str(file)})
    return content
