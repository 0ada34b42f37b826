"""Mutations of refs."""

from typing import Any

from agent_sync.emulator.graphql.git_objects import GitRef, ref_of
from agent_sync.emulator.graphql.mutations.found import Payload, found
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.operations import refs
from agent_sync.emulator.operations.ref_updates import RefUpdate, update_refs
from agent_sync.emulator.world.repositories import Repository


def create(request: Request, *, repository_id: str, name: str, oid: str) -> Payload:
    """Create a ref that does not exist yet."""
    repository = found(request, repository_id, Repository)
    refs.create_ref(request.world, request.viewer, repository, name, oid)
    return {"ref": ref_of(repository, name)}


def update(request: Request, *, ref_id: str, oid: str, force: bool | None = False) -> Payload:
    """Move a ref."""
    ref = found(request, ref_id, GitRef)
    refs.update_ref(request.world, request.viewer, ref.repository, ref.full_name, oid, force=bool(force))
    return {"ref": ref_of(ref.repository, ref.full_name)}


def delete(request: Request, *, ref_id: str) -> Payload:
    """Delete a ref."""
    ref = found(request, ref_id, GitRef)
    refs.delete_ref(request.world, request.viewer, ref.repository, ref.full_name)
    return {}


def update_several(request: Request, *, repository_id: str, ref_updates: list[dict[str, Any]]) -> Payload:
    """Move, create and delete refs together, each only if it is what the caller saw."""
    updates = [
        RefUpdate(entry["name"], entry["afterOid"], entry.get("beforeOid"), bool(entry.get("force")))
        for entry in ref_updates
    ]
    update_refs(request.world, request.viewer, found(request, repository_id, Repository), updates)
    return {}


MUTATIONS: Table = {"createRef": create, "deleteRef": delete, "updateRef": update, "updateRefs": update_several}
