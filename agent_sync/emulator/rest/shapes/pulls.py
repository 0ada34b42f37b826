"""Pull requests, reviews and review comments in REST's shapes."""

from typing import Any

from agent_sync.emulator.exchange import Links
from agent_sync.emulator.operations.merges.mergeability import is_mergeable, merge_state
from agent_sync.emulator.rest.shapes.git import changed_files
from agent_sync.emulator.rest.shapes.issues import html_url, label_shape, no_reactions
from agent_sync.emulator.rest.shapes.people import association, optional_user, simple_user
from agent_sync.emulator.rest.shapes.repositories import api_url, repository_shape
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.pulls import PullRequest, Review, ReviewComment
from agent_sync.emulator.world.repositories import Repository


def simple_pull(links: Links, pull: PullRequest) -> dict[str, Any]:
    """Return a pull request as lists show it."""
    repository, web = pull.repository, html_url(links, pull)
    root = api_url(links, repository)
    url, issue_url = f"{root}/pulls/{pull.number}", f"{root}/issues/{pull.number}"
    statuses = f"{root}/statuses/{pull.head_sha}"
    return {
        "url": url,
        "id": pull.identity.number,
        "node_id": pull.id,
        "html_url": web,
        "diff_url": f"{web}.diff",
        "patch_url": f"{web}.patch",
        "issue_url": issue_url,
        "commits_url": f"{url}/commits",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": root + "/pulls/comments{/number}",
        "comments_url": f"{issue_url}/comments",
        "statuses_url": statuses,
        "number": pull.number,
        "state": pull.state,
        "locked": pull.locked,
        "active_lock_reason": None,
        "title": pull.title,
        "user": simple_user(links, pull.author),
        "body": pull.body,
        "labels": [label_shape(links, repository, label) for label in pull.labels],
        "milestone": None,
        "created_at": timestamp(pull.created_at),
        "updated_at": timestamp(pull.updated_at),
        "closed_at": timestamp(pull.closed_at) if pull.closed_at else None,
        "merged_at": timestamp(pull.merged_at) if pull.merged_at else None,
        "merge_commit_sha": pull.merge_commit,
        "assignee": optional_user(links, pull.assignees[0] if pull.assignees else None),
        "assignees": [simple_user(links, user) for user in pull.assignees],
        "requested_reviewers": [simple_user(links, user) for user in pull.requested_reviewers],
        "requested_teams": [],
        "head": _end(links, pull.head_home, pull.head, pull.head_sha),
        "base": _end(links, pull.repository, pull.base, pull.base_sha),
        "author_association": association(repository, pull.author),
        "auto_merge": _order(links, pull),
        "draft": pull.draft,
        "_links": {
            "self": {"href": url},
            "html": {"href": web},
            "issue": {"href": issue_url},
            "comments": {"href": f"{issue_url}/comments"},
            "review_comments": {"href": f"{url}/comments"},
            "review_comment": {"href": root + "/pulls/comments{/number}"},
            "commits": {"href": f"{url}/commits"},
            "statuses": {"href": statuses},
        },
    }


def _order(links: Links, pull: PullRequest) -> dict[str, Any] | None:
    order = pull.auto_merge
    if order is None:
        return None
    return {
        "enabled_by": simple_user(links, order.by),
        "merge_method": order.method.value,
        "commit_title": pull.title,
        "commit_message": "",
    }


def _end(links: Links, home: Repository, branch: str, sha: str) -> dict[str, Any]:
    return {
        "label": f"{home.owner.login}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": simple_user(links, home.owner),
        "repo": repository_shape(links, home),
    }


def full_pull(links: Links, pull: PullRequest) -> dict[str, Any]:
    """Return a pull request as asking for it by number shows it."""
    files = changed_files(links, pull.repository, pull.base_sha, pull.head_sha)
    mergeable = is_mergeable(pull)
    return simple_pull(links, pull) | {
        "merged": pull.merged,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": merge_state(pull).lower(),
        "merged_by": optional_user(links, pull.merged_by),
        "comments": len(pull.comments),
        "review_comments": sum(len(thread.comments) for thread in pull.threads),
        "maintainer_can_modify": pull.maintainer_can_modify,
        "commits": len(pull.repository.git.commits_between(pull.base_sha, pull.head_sha)),
        "additions": sum(entry["additions"] for entry in files),
        "deletions": sum(entry["deletions"] for entry in files),
        "changed_files": len(files),
    }


def review_shape(links: Links, review: Review) -> dict[str, Any]:
    """Return a review."""
    pull = review.pull
    web = f"{html_url(links, pull)}#pullrequestreview-{review.identity.number}"
    url = f"{api_url(links, pull.repository)}/pulls/{pull.number}"
    return {
        "id": review.identity.number,
        "node_id": review.id,
        "user": simple_user(links, review.author),
        "body": review.body,
        "state": review.state.value,
        "html_url": web,
        "pull_request_url": url,
        "author_association": association(pull.repository, review.author),
        "_links": {"html": {"href": web}, "pull_request": {"href": url}},
        "submitted_at": timestamp(review.submitted_at),
        "commit_id": review.commit,
    }


def review_comment_shape(links: Links, comment: ReviewComment) -> dict[str, Any]:
    """Return a comment at a line."""
    thread, pull, number = comment.thread, comment.thread.pull, comment.identity.number
    root = f"{api_url(links, pull.repository)}/pulls"
    web = f"{html_url(links, pull)}#discussion_r{number}"
    first = thread.comments[0]
    shown = {
        "url": f"{root}/comments/{number}",
        "pull_request_review_id": comment.review.identity.number,
        "id": number,
        "node_id": comment.id,
        "diff_hunk": f"@@ -{thread.line},1 +{thread.line},1 @@",
        "path": thread.path,
        "position": thread.line,
        "original_position": thread.line,
        "line": thread.line,
        "original_line": thread.line,
        "side": "RIGHT",
        "subject_type": "line",
        "commit_id": thread.commit,
        "original_commit_id": thread.commit,
        "user": simple_user(links, comment.author),
        "body": comment.body,
        "created_at": timestamp(comment.created_at),
        "updated_at": timestamp(comment.updated_at),
        "html_url": web,
        "pull_request_url": f"{root}/{pull.number}",
        "author_association": association(pull.repository, comment.author),
        "reactions": no_reactions(f"{root}/comments/{number}"),
        "_links": {
            "self": {"href": f"{root}/comments/{number}"},
            "html": {"href": web},
            "pull_request": {"href": f"{root}/{pull.number}"},
        },
    }
    return shown if first is comment else shown | {"in_reply_to_id": first.identity.number}
